//! The loads of a question. Keeps the loads of recent questions, because moving one resource changes only
//! one order.

use super::question::Asked;
use super::sentences::LoadedOrder;
use crate::commands::compare::failure;
use crate::limits::WORKBENCH_KEPT_MAX;
use ::serve::Failure;
use lab::Load;
use lab::study::{RunRecord, StudyError, loads};
use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// A load, with its row of results.
type Loaded = Arc<(RunRecord, Load)>;

/// Loads by everything that determines them, the latest last.
#[derive(Default)]
pub(super) struct KeptLoads(VecDeque<(String, Loaded)>);

impl KeptLoads {
    pub(super) fn clear(&mut self) {
        self.0.clear();
    }

    fn find(&self, key: &str) -> Option<Loaded> {
        self.0.iter().find(|it| it.0 == key).map(|it| Arc::clone(&it.1))
    }

    fn add(&mut self, key: String, load: &Loaded) {
        self.0.retain(|it| it.0 != key);
        self.0.push_back((key, Arc::clone(load)));
        if self.0.len() > WORKBENCH_KEPT_MAX {
            self.0.pop_front();
        }
    }
}

/// The loads of a question's rows, in order.
pub(super) struct Loads(Vec<Loaded>);

impl Loads {
    /// Runs the loads that are not kept.
    pub(super) fn of(
        kept: &Mutex<KeptLoads>,
        asked: &Asked,
        ended: &AtomicBool,
    ) -> Result<Self, Failure> {
        let locked = || kept.lock().unwrap_or_else(PoisonError::into_inner);
        let go_on = || {
            if ended.load(Ordering::Relaxed) {
                return Err(StudyError::Impossible("it is no longer needed".to_owned()));
            }
            Ok(())
        };
        let keys: Vec<String> = (0..asked.pages.len()).map(|it| asked.key(it)).collect();
        let mut all: Vec<Option<Loaded>> = keys.iter().map(|it| locked().find(it)).collect();
        let missing: Vec<usize> = (0..all.len()).filter(|it| all[*it].is_none()).collect();
        for case in asked.cases(&missing)? {
            let loaded = loads(&case.plan, &go_on).map_err(failure)?;
            for (places, load) in case.rows.iter().zip(loaded) {
                let load = Arc::new(load);
                for place in places {
                    locked().add(keys[*place].clone(), &load);
                    all[*place] = Some(Arc::clone(&load));
                }
            }
        }
        Ok(Self(all.into_iter().flatten().collect()))
    }

    pub(super) fn told<'a>(&'a self, asked: &'a Asked) -> Vec<LoadedOrder<'a>> {
        let rows = asked.question.rows.iter().zip(&self.0);
        let told = rows.map(|(row, loaded)| LoadedOrder {
            label: row.label(),
            is_by_hand: row.by_hand.is_some(),
            is_own: row.by_hand.is_some() || asked.is_own(&row.scheme),
            run: &loaded.0,
            load: &loaded.1,
        });
        told.collect()
    }
}
