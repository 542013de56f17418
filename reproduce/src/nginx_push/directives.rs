//! The article's directives, each as a route of ours has it, from end to end.

use super::setup::{demo_case, linked, pushing, used};
use crate::bench::{Bench, Case, Times};
use crate::{ReproduceError, Row};
use gateway::site::Pushing;
use push::visits::PushWhen;

const TABLE: &str = "Directives";
const TWO_OF_THREE: &str = "`max_concurrent_pushes` of 2, three paths";

const TWO_LINKS: &str = "</style.css>; as=style; rel=preload, </image1.jpg>; as=image; rel=preload";

pub(super) fn rows(bench: &Bench) -> Result<Vec<Row>, ReproduceError> {
    let cases = [
        demo_case(),
        pushing(demo_case()),
        preloaded(TWO_LINKS),
        preloaded("</style.css>; as=style; rel=preload; nopush"),
        preloaded("<./style.css>; as=style; rel=preload"),
        Case {
            pushing: Pushing { max_concurrent_pushes: Some(2), ..first_visit().pushing },
            ..first_visit()
        },
        first_visit(),
    ];
    let loaded = bench.once(&cases)?;
    let mut next_visit = first_visit();
    next_visit.client.cookies = loaded[6].outcome.cookies.clone();
    let again = bench.once(&[next_visit])?;
    Ok(vec![
        row("(none)", "no `push`", &loaded[0], &[]),
        row("http2_push", "`push`, three paths", &loaded[1], &[1, 2, 3]),
        row("http2_push_preload", "`push_preload`, a `Link` field of two", &loaded[2], &[1, 2]),
        row("nopush", "`push_preload`, a link that says `nopush`", &loaded[3], &[]),
        row("relative path", "`push_preload`, a link to `./style.css`", &loaded[4], &[]),
        row("http2_max_concurrent_pushes", TWO_OF_THREE, &loaded[5], &[1, 2]),
        row("first visit", "`push_when`, without the cookie", &loaded[6], &[1, 2, 3]),
        row("next visit", "`push_when`, with the cookie of the first", &again[0], &[]),
    ])
}

fn preloaded(links: &str) -> Case {
    let mut case = demo_case();
    case.pushing.push_preload = true;
    case.fields.push(("link", links.to_owned()));
    case
}

/// The article's example: `map $http_cookie`, and a cookie that the response sets.
fn first_visit() -> Case {
    let mut case = linked(demo_case());
    case.pushing.push_preload = true;
    case.pushing.push_when = PushWhen::CookieAbsent("session".into());
    case
}

/// Requires that these resources are pushed, as many as in the article. Each other one counts against them.
fn row(id: &str, metric: &str, times: &Times, expected: &[usize]) -> Row {
    let pushed = used(times);
    let count = expected.len() as f64;
    let right = pushed.iter().zip(expected).filter(|(ours, theirs)| ours == theirs).count();
    let others = pushed.len() - right;
    let ours = right as f64 - others as f64;
    Row::shown(id, format!("resources pushed and used: {metric}"), Some(ours))
        .in_table(TABLE)
        .published(count)
        .must(format!("{count}, those that are named"), |it| (it - count).abs() < 0.5)
}
