window.ready = true;
