//! Records real pages in a browser, through our own server, as pages that can be played back.
