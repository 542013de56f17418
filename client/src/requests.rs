//! Discovered resources that are not requested yet. They wait for a stream, and some of them until the parser reaches the
//! body.

use crate::profile::HoldBack;
use corpus::page::PageResource;
use std::collections::{BTreeSet, VecDeque};

#[derive(Debug, Default)]
pub(crate) struct Requests {
    hold_back: Option<HoldBack>,
    waiting: VecDeque<usize>,
    /// Requested, or brought by a push.
    asked: BTreeSet<usize>,
    /// Complete responses, whatever caused their requests.
    came: BTreeSet<usize>,
    /// Whether a request was held back. When none is any more, the most urgent go first.
    holds: bool,
}

impl Requests {
    pub(crate) fn new(hold_back: Option<HoldBack>) -> Self {
        Self { hold_back, ..Self::default() }
    }

    /// A resource is or will be needed: queues its request. Returns `false` if it is already queued or requested.
    pub(crate) fn add(&mut self, resource: usize) -> bool {
        let is_new = !self.asked.contains(&resource) && !self.waiting.contains(&resource);
        if is_new {
            self.waiting.push_back(resource);
        }
        is_new
    }

    /// The next resource to request: the first that is not held back. `in_head`: the parser has not reached the body.
    pub(crate) fn next(&mut self, resources: &[PageResource], in_head: bool) -> Option<usize> {
        let Some(HoldBack { urgency_from, at_most }) = self.hold_back else {
            return self.waiting.front().copied();
        };
        let urgency = |id: &usize| resources[*id].browser.map_or(3, |it| it.urgency);
        if in_head {
            self.holds = true;
            let outstanding = self.asked.difference(&self.came);
            let limited = outstanding.filter(|it| urgency(it) >= urgency_from).count();
            let is_full = limited >= usize::from(at_most);
            let free = self.waiting.iter().filter(|it| !is_full || urgency(it) < urgency_from);
            return free.min_by_key(|it| urgency(it).max(urgency_from.saturating_sub(1))).copied();
        }
        if std::mem::take(&mut self.holds) {
            self.waiting.make_contiguous().sort_by_key(urgency);
        }
        self.waiting.front().copied()
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
        self.came.remove(&resource);
        self.waiting.push_back(resource);
    }

    pub(crate) fn came(&mut self, resource: usize) {
        self.came.insert(resource);
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profile::Profile;

    /// The order of requests for a page whose references are all found at once, and whose head script arrives after `before`
    /// requests. `|`: the others wait for it.
    fn order(profile: &str, page: corpus::Page, before: usize) -> String {
        let profile = Profile::find(profile).expect("bundled");
        let page = profile.applied_to(page);
        let mut requests = Requests::new(profile.hold_back);
        page.resources.iter().for_each(|it| assert!(requests.add(it.id)));
        let (mut order, mut in_head) = (Vec::new(), true);
        while !requests.is_empty() {
            in_head = in_head && order.len() < before;
            let next = requests.next(&page.resources, in_head);
            if let Some(id) = next {
                requests.asked(id);
            }
            in_head = in_head && next.is_some();
            order.push(next.map_or("|".to_owned(), |it| it.to_string()));
        }
        order.join(" ")
    }

    #[test]
    fn chromium_asks_for_two_images_before_the_body_and_then_for_scripts_before_the_other_images() {
        // 0 index.html, 1 top.js, 2 to 5 images, 6 font, 7 hero image, 8 bottom.js.
        let page = || corpus::bundled("davies-meenan").expect("bundled").clone();
        assert_eq!(order("chrome-2023", page(), 99), "0 1 6 8 2 | 3 4 5 7");
        assert_eq!(order("chromium-156", page(), 99), "0 1 6 2 3 | 4 5 7 8");
        assert_eq!(order("chrome-2023", page(), 2), "0 1 6 8 2 3 4 5 7");
        assert_eq!(order("firefox-132", page(), 99), "0 1 2 3 4 5 6 7 8");
    }

    #[test]
    fn an_image_that_came_makes_room_for_another_before_the_body() {
        let profile = Profile::find("chromium-156").expect("bundled");
        let page = profile.applied_to(corpus::bundled("davies-meenan").expect("bundled").clone());
        let mut requests = Requests::new(profile.hold_back);
        let next = |requests: &mut Requests| {
            let next = requests.next(&page.resources, true);
            next.inspect(|it| requests.asked(*it))
        };
        assert_eq!([2, 3, 4, 5].map(|it| requests.add(it)), [true; 4]);
        assert_eq!([(); 3].map(|()| next(&mut requests)), [Some(2), Some(3), None]);
        requests.came(3);
        assert_eq!([(); 2].map(|()| next(&mut requests)), [Some(4), None]);
    }
}
