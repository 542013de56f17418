//! Resources that are discovered and not yet requested. They wait for a stream, and some of them for resources that
//! their browser thinks more urgent.

use crate::profile::{HoldBack, HoldBackReason};
use corpus::page::{PageResource, Script};
use schedulers::Kind;
use std::collections::{BTreeSet, VecDeque};

#[derive(Debug, Default)]
pub(crate) struct Requests {
    hold_back: Option<HoldBack>,
    waiting: VecDeque<usize>,
    /// Requested, or brought by a push.
    asked: BTreeSet<usize>,
    /// Synchronous scripts of the head that have been discovered and have not come.
    head_scripts: BTreeSet<usize>,
}

impl Requests {
    pub(crate) fn new(hold_back: Option<HoldBack>) -> Self {
        Self { hold_back, ..Self::default() }
    }

    pub(crate) fn discovered(&mut self, resource: &PageResource) {
        let sync = matches!(resource.script, None | Some(Script::Sync));
        if resource.kind == Kind::Js && resource.in_head && sync {
            self.head_scripts.insert(resource.id);
        }
        self.hinted(resource.id);
    }

    /// A resource is or will be needed: queues its request. False: it is queued or requested already.
    pub(crate) fn hinted(&mut self, resource: usize) -> bool {
        let is_new = !self.asked.contains(&resource) && !self.waiting.contains(&resource);
        if is_new {
            self.waiting.push_back(resource);
        }
        is_new
    }

    /// The next resource to request: the first that nothing holds back.
    pub(crate) fn next(&self, resources: &[PageResource]) -> Option<usize> {
        self.waiting.iter().copied().find(|id| !self.is_held(&resources[*id]))
    }

    pub(crate) fn asked(&mut self, resource: usize) {
        self.waiting.retain(|it| *it != resource);
        self.asked.insert(resource);
    }

    pub(crate) fn has_asked(&self, resource: usize) -> bool {
        self.asked.contains(&resource)
    }

    /// The response will not come: the resource is requested again.
    pub(crate) fn again(&mut self, resource: usize) {
        self.asked.remove(&resource);
        self.waiting.push_back(resource);
    }

    pub(crate) fn came(&mut self, resource: usize) {
        self.head_scripts.remove(&resource);
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }

    fn is_held(&self, resource: &PageResource) -> bool {
        let Some(HoldBack { urgency_from, reason: HoldBackReason::HeadScript }) = self.hold_back
        else {
            return false;
        };
        let urgency = resource.browser.map_or(3, |it| it.urgency);
        urgency >= urgency_from && !self.head_scripts.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profile::Profile;

    /// The order in which the requests of the Davies/Meenan page leave when all are discovered at once and
    /// `top.js` comes after `before` requests.
    fn order(profile: &str, before: usize) -> String {
        let profile = Profile::find(profile).expect("bundled");
        let page = profile.applied_to(corpus::bundled("davies-meenan").expect("bundled").clone());
        let mut requests = Requests::new(profile.hold_back);
        page.resources.iter().for_each(|it| requests.discovered(it));
        let mut order = Vec::new();
        while !requests.is_empty() {
            if order.len() == before {
                requests.came(1);
            }
            let Some(next) = requests.next(&page.resources) else {
                order.push("wait".to_owned());
                requests.came(1);
                continue;
            };
            requests.asked(next);
            order.push(next.to_string());
        }
        order.join(" ")
    }

    #[test]
    fn chrome_holds_images_back_while_a_head_script_is_pending() {
        // 0 index.html, 1 top.js, 2 to 5 images, 6 font, 7 hero image, 8 bottom.js.
        assert_eq!(order("chrome-2023", 99), "0 1 6 8 wait 2 3 4 5 7");
        assert_eq!(order("chrome-2023", 2), "0 1 2 3 4 5 6 7 8");
        assert_eq!(order("firefox-132", 99), "0 1 2 3 4 5 6 7 8");
    }
}
