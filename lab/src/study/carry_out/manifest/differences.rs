//! Whether two manifests are of one study, and how a user set the keys in which they differ.

use crate::study::carry_out::failed;
use crate::study::plan::setting::DIMENSIONS;
use serde_json::Value;

/// Keys in which two manifests of one study may differ: they record where and when it ran.
pub(crate) const FREE: [&str; 5] = ["argv", "cpu", "date", "rustc", "shard"];

/// Keys that change summaries, but no loads.
pub(crate) const OF_SUMMARIES: [&str; 6] =
    ["metric", "baseline", "weights", "left_out", "rounds", failed::KEY];

/// The first key that proves that two manifests belong to different studies or programs.
pub(crate) fn difference<'a>(one: &'a Value, other: &'a Value) -> Option<&'a str> {
    let keys = [one, other].into_iter().flat_map(|it| it.as_object().into_iter().flatten());
    let mut keys = keys.map(|(key, _)| key.as_str());
    keys.find(|key| {
        !OF_SUMMARIES.contains(key) && !FREE.contains(key) && one.get(key) != other.get(key)
    })
}

/// Whether `later` is `earlier` with the seeds of more rounds.
pub(crate) fn has_more_rounds(earlier: &Value, later: &Value) -> bool {
    let [seeds, more_seeds] =
        [earlier, later].map(|it| it["seeds"].as_array().cloned().unwrap_or_default());
    earlier["stopping"].is_object()
        && earlier["stopping"] == later["stopping"]
        && more_seeds.starts_with(&seeds)
}

/// The flag that sets the value of a key, for a user who never saw the manifest.
pub(crate) fn set_by(key: &str) -> String {
    let flag = match key {
        "initial_window_packets" => "--initial-window",
        "seeds" => "--seeds or --first-seed",
        "stopping" => "--width or --seeds",
        "pages" => "the pages",
        "engine" => "--engine",
        "browser" => "the browser, or the pages' bodies",
        "schemes" => "--schemes",
        "send_buffer_model" => "--send-buffer-model",
        "metadata" => "--metadata",
        "delivery_order" => "--delivery-order",
        "shard" => "--shard",
        other => match DIMENSIONS.iter().find(|dimension| dimension.list == other) {
            Some(dimension) => dimension.flag,
            None => return format!("the program (`{other}`)"),
        },
    };
    flag.to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn manifests_differ_by_what_was_studied_and_with_what_not_by_when_and_where() {
        let one = json!({"date": "a", "seeds": [0], "git_commit": "x", "shard": "1/2"});
        let other = json!({"date": "b", "seeds": [0], "git_commit": "x", "shard": null});
        assert_eq!(difference(&one, &other), None);
        assert_eq!(difference(&one, &json!({"seeds": [0, 1], "git_commit": "x"})), Some("seeds"));
        assert_eq!(difference(&one, &json!({"seeds": [0]})), Some("git_commit"));
    }
}
