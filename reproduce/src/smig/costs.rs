//! The loss of the large download by migration: Figure 10.

use super::moved::{MIGRATIONS, moved};
use super::small_objects::FAIR;
use super::{CONTROLS, DEFAULT_BUFFER_BYTES, MB, RTT_MS, Server, large, link};
use crate::bench::Bench;
use crate::row::ratio;
use crate::{ReproduceError, Row};
use lab::StreamMigration;
use server::CongestionControl::{self, Bbr2};

const COSTS: &str = "What the large download loses by migration";
const FIGURE_10: &str = "What the large download loses by MigSW behind a FIFO of 1Mi (Figure 10)";

/// "The download time increase is less than 2.5%."
const PUBLISHED_PERCENT: f64 = 2.5;

pub(super) fn rows(bench: &Bench) -> Result<Vec<Row>, ReproduceError> {
    Ok([own_rows(bench)?, figure_10(bench)?].concat())
}

struct Moving {
    migration: StreamMigration,
    control: CongestionControl,
    buffer_bytes: u64,
    download_mb: u64,
    /// Whether it moves to an idle connection, and not to a new one.
    to_idle: bool,
}

impl Moving {
    fn percent(&self, bench: &Bench) -> Result<Option<f64>, ReproduceError> {
        let server = Server::new(FAIR, self.control, self.buffer_bytes);
        let requests = vec![large(self.download_mb * MB)];
        let stays = server.downloads(link(self.control, RTT_MS), requests)?;
        let moves = moved(stays.clone(), self.migration, self.to_idle);
        let loads = bench.downloads(&[stays, moves])?;
        let cost = ratio(loads[1].complete_ms[0], loads[0].complete_ms[0]);
        Ok(cost.map(|it| (it - 1.0) * 100.0))
    }

    fn metric(&self) -> String {
        format!(
            "longer by {} of {} MB to {} connection, {}, in percent",
            self.migration.name(),
            self.download_mb,
            if self.to_idle { "an idle" } else { "a new" },
            self.control.name()
        )
    }
}

/// Without a buffer, moved to an idle connection (50 MB) or to a new one (10 MB), with limits of our own.
fn own_rows(bench: &Bench) -> Result<Vec<Row>, ReproduceError> {
    let mut rows = Vec::new();
    for (download_mb, to_idle, most) in [(50, true, 1.0), (10, false, 4.0)] {
        for migration in MIGRATIONS {
            let moving = Moving { migration, control: Bbr2, buffer_bytes: 0, download_mb, to_idle };
            let id = format!("cost-{}-{download_mb}m", migration.name());
            let row = Row::shown(id, moving.metric(), moving.percent(bench)?).in_table(COSTS);
            rows.push(row.required().at_most(most));
        }
    }
    Ok(rows)
}

/// The paper's: both sizes, to an idle connection (its Figure 2a) and to a new one (2c).
fn figure_10(bench: &Bench) -> Result<Vec<Row>, ReproduceError> {
    let mut rows = Vec::new();
    for control in CONTROLS {
        for (download_mb, to_idle) in [(50, true), (50, false), (10, true), (10, false)] {
            let migration = StreamMigration::ServerWhole;
            let buffer_bytes = DEFAULT_BUFFER_BYTES;
            let moving = Moving { migration, control, buffer_bytes, download_mb, to_idle };
            let to = if to_idle { "idle" } else { "new" };
            let id = format!("figure10-{}-{download_mb}m-{to}", control.name());
            let metric = format!("{}, FIFO of 1Mi", moving.metric());
            let row = Row::shown(id, metric, moving.percent(bench)?).in_table(FIGURE_10);
            let row = row.below(PUBLISHED_PERCENT);
            rows.push(
                row.note("\"Less than 2.5%\": the source's words have no lower limit.")
                    .under(control),
            );
        }
    }
    Ok(rows)
}
