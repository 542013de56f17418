//! Numbers that a flag does not take: the message says which it takes.

use crate::{only_line, utmost};

#[test]
fn a_number_that_cannot_be_is_answered_with_those_that_can() {
    for (arguments, expected) in [
        (
            &["find", "x", "--width", "-5"][..],
            "'-5' for '--width <SHARE>': a share from 0.001 to 1 is needed, ",
        ),
        (
            &["find", "x", "--loads", "-1"],
            "'-1' for '--loads <N>': a whole number from 1 to 20 is needed",
        ),
        (
            &["compare", "x", "--seeds", "-1"],
            "'-1' for '--seeds <N>': a whole number from 1 to 100000 is needed",
        ),
        (
            &["compare", "x", "--width", "-5"],
            "'-5' for '--width <PERCENT>': it must be from 0.1 to 100",
        ),
        (
            &["compare", "x", "--jobs", "-2"],
            "'-2' for '--jobs <N>': a whole number from 1 on is needed",
        ),
        (&["link", "--seed", "-1"], "'-1' for '--seed <N>': use a whole number from 0 on"),
        (
            &["serve", "--shards", "300"],
            "'300' for '--shards <COUNT>': a whole number from 1 to 255 is needed",
        ),
        (&["serve", "--drain-within", "-1"], "'-1' for '--drain-within <SECONDS>': "),
        (
            &["qlog", "convert", "x", "--stream", "-4"],
            "'-4' for '--stream <IDS>': use a whole number from 0 on",
        ),
        (&["qlog", "tree", "x", "--at", "-1"], "'-1' for '--at <MS>': "),
        (
            &["view", "--port", "70000"],
            "'70000' for '--port <PORT>': a whole number from 0 to 65535 is needed",
        ),
    ] {
        let line = only_line(&utmost(arguments).output().expect("the program runs"), 2);
        let begin = format!("utmost: invalid value {expected}");
        assert!(line.starts_with(&begin), "{arguments:?}: {line}");
    }
}
