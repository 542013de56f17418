//! The engine `browser`: a real browser loads a page from the real server over UDP on loopback, in real time, through the lab's
//! links. The browser's observations become a [`Load`] like that from any other engine.

use crate::network::Network;
use crate::wire::{Served, WireError, while_served};
use crate::{Load, Loaded};
use corpus::Page;
use gateway::site::RuledSite;
use qlog_tools::assembly::StreamFrame;
use qlog_tools::timeline::{Region, RenderTimes, Timeline, Transfer};
use server::site::Site;
use server::{Identity, Options, TlsError};
use std::fmt::Debug;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

/// The port that the browser sees, so that links that name a host without a port lead there.
const HTTPS_PORT: u16 = 443;

/// A browser that can be driven.
pub trait Browser: Debug + Send + Sync {
    /// Its name and version, and the kind of bodies: `Chromium 156.0.7842.0, the pages' own files`.
    fn description(&self) -> Result<String, BrowserError>;

    /// `page` with bodies that the browser can read. The responses carry the same facts about each resource as its imitation's.
    fn site(&self, page: &Page) -> Result<Arc<dyn Site>, BrowserError>;

    /// Loads `page` once. The load shares no state with earlier ones.
    fn load(&self, page: &Page, entrance: Entrance<'_>) -> Result<ObservedLoad, BrowserError>;
}

/// Where the browser finds the server.
#[derive(Debug, Clone, Copy)]
pub struct Entrance<'a> {
    /// A UDP port of this machine. All loads use the port of the first.
    pub port: u16,
    /// The pin of the server certificate's public key, in the form of Chromium's flag.
    pub public_key_pin: &'a str,
    /// Whether to take pictures of the window during the load. They slow it down.
    pub is_filmed: bool,
}

/// The browser is missing, has failed, or cannot show a page.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct BrowserError(pub String);

/// A load as the browser observed it. All times are in milliseconds on one clock.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ObservedLoad {
    /// The resources of the page that were requested.
    pub resources: Vec<ObservedResource>,
    /// The first contentful paint.
    pub first_render_ms: Option<f64>,
    /// The largest contentful paint, if it is a hero image of the page.
    pub hero_render_ms: Option<f64>,
    /// `DOMContentLoaded`.
    pub dom_content_loaded_ms: Option<f64>,
    /// The load event.
    pub load_ms: Option<f64>,
    /// Pictures of the window in order; empty if none were taken.
    pub film: Vec<FilmFrame>,
    /// Differences from the page.
    pub problems: Vec<String>,
}

/// A picture of the window.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct FilmFrame {
    /// When it was taken.
    pub time_ms: f64,
    /// The share of the last picture that it shows, from 0 to 1, by their colour histograms: `WebPageTest`'s measure of visual
    /// progress.
    pub completeness: f64,
    /// JPEG.
    pub jpeg: Vec<u8>,
}

/// A request, and its response.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ObservedResource {
    /// Its ID in the page.
    pub id: usize,
    /// When the request was sent.
    pub requested_ms: f64,
    /// When bytes of the body arrived, and how many.
    pub arrivals: Vec<(f64, u64)>,
    /// When the last byte arrived, if it did.
    pub finished_ms: Option<f64>,
}

/// The state that all loads of a study share: the certificate, and the port that the browser sees.
pub(crate) struct Stage {
    identity: Identity,
    public_key_pin: String,
    port: OnceLock<u16>,
}

/// The settings of a load, besides its page.
pub(crate) struct Setup<'a> {
    pub(crate) browser: &'a dyn Browser,
    pub(crate) options: Options,
    pub(crate) site: RuledSite,
    /// The network with the links between them, and the links' seed. `None`: a direct connection.
    pub(crate) links: Option<(&'a Network, u64)>,
    pub(crate) is_filmed: bool,
}

/// Why a browser's load could not be carried out.
#[derive(Debug, thiserror::Error)]
pub enum BrowsingError {
    /// Its server or links failed.
    #[error(transparent)]
    Served(#[from] WireError),
    /// The browser failed.
    #[error(transparent)]
    Browser(#[from] BrowserError),
}

impl Stage {
    pub(crate) fn new() -> Result<Self, TlsError> {
        let identity = Identity::self_signed()?;
        let public_key_pin = identity.public_key_pin()?;
        Ok(Self { identity, public_key_pin, port: OnceLock::new() })
    }

    /// Loads `page` once.
    pub(crate) fn load(&self, page: &Page, setup: Setup<'_>) -> Result<Loaded, BrowsingError> {
        let Setup { browser, mut options, site, links, is_filmed } = setup;
        options.alt_svc_port = Some(HTTPS_PORT);
        options.limits.drain = Duration::ZERO;
        let scheme = options.scheme.name.clone();
        let port = self.port.get().copied().unwrap_or_default();
        let entrance = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
        let (identity, carries_tcp, over_tcp) = (&self.identity, false, None);
        let served = Served { options, identity, site, links, carries_tcp, entrance, over_tcp };
        let seen = while_served(served, |address| {
            let port = *self.port.get_or_init(|| address.port());
            let public_key_pin = &self.public_key_pin;
            browser.load(page, Entrance { port, public_key_pin, is_filmed })
        })??;
        let completed = seen.problems.is_empty();
        let timeline = Timeline { name: scheme, ..timeline(page, &seen) };
        let start_ms = seen.start_ms();
        let ObservedLoad { problems, mut film, .. } = seen;
        for frame in &mut film {
            frame.time_ms -= start_ms;
        }
        Ok(Loaded { problems, film, ..Load { completed, timeline }.into() })
    }
}

/// The observations as the timeline of a connection. Streams are numbered in the order of requests. A body of known size is counted
/// with the page's size; its last bytes arrive when the browser reports it complete.
pub(crate) fn timeline(page: &Page, seen: &ObservedLoad) -> Timeline {
    let mut resources: Vec<&ObservedResource> = seen.resources.iter().collect();
    resources.sort_by(|one, other| one.requested_ms.total_cmp(&other.requested_ms));
    let start_ms = seen.start_ms();
    let (mut transfers, mut frames) = (Vec::new(), Vec::new());
    for (stream, resource) in (0..).step_by(4).zip(resources) {
        let bytes = page.resources.get(resource.id).map_or(0, |it| it.bytes);
        let end_us = resource.finished_ms.map(|it| us_since(start_ms, it));
        transfers.push(Transfer {
            stream,
            url: page.url(resource.id),
            requested_us: us_since(start_ms, resource.requested_ms),
            body_bytes: Some(bytes),
            stream_bytes: end_us.map(|_| bytes),
            ..Transfer::default()
        });
        let mut offset = 0;
        for (time_ms, arrived) in &resource.arrivals {
            // The rest arrives with the end.
            let arrived = (*arrived).min(bytes.saturating_sub(offset + 1));
            let time_us = us_since(start_ms, *time_ms).min(end_us.unwrap_or(u64::MAX));
            let frame = StreamFrame { time_us, stream, offset, bytes: arrived };
            frames.extend(Some(frame).filter(|_| arrived > 0));
            offset += arrived;
        }
        let rest = bytes - offset;
        frames.extend(end_us.map(|time_us| StreamFrame { time_us, stream, offset, bytes: rest }));
    }
    frames.sort_by_key(|it| it.time_us);
    let regions = regions(&seen.film, start_ms);
    let renders = RenderTimes {
        regions_weight: regions.iter().map(|it| it.weight).sum(),
        regions,
        first_render_us: seen.first_render_ms.map(|it| us_since(start_ms, it)),
        dom_content_loaded_us: seen.dom_content_loaded_ms.map(|it| us_since(start_ms, it)),
        load_us: seen.load_ms.map(|it| us_since(start_ms, it)),
        hero_render_us: seen.hero_render_ms.map(|it| us_since(start_ms, it)),
    };
    Timeline { transfers, frames, renders: vec![renders], ..Timeline::default() }
}

/// The addition of each picture to the preceding ones, as regions of a page, so that their mean is the `SpeedIndex`: the area above
/// the curve of visual progress. Areas that are covered again count as shown.
fn regions(film: &[FilmFrame], start_ms: f64) -> Vec<Region> {
    let (mut regions, mut shown) = (Vec::new(), 0);
    for frame in film {
        let now =
            (0..=PARTS).rev().find(|it| f64::from(*it) <= frame.completeness * f64::from(PARTS));
        let now = now.unwrap_or_default();
        if now > shown {
            let time_us = us_since(start_ms, frame.time_ms);
            regions.push(Region { time_us, weight: u64::from(now - shown) });
            shown = now;
        }
    }
    regions
}

/// 0 for times before `start_ms`.
fn us_since(start_ms: f64, ms: f64) -> u64 {
    let since = Duration::try_from_secs_f64((ms - start_ms) / 1000.0).unwrap_or_default();
    u64::try_from(since.as_micros()).unwrap_or(u64::MAX)
}

/// Visual progress is measured in this number of parts.
const PARTS: u32 = 1000;

impl ObservedLoad {
    /// When the first request was sent, on the browser's own clock, which counts from the start of the machine.
    fn start_ms(&self) -> f64 {
        let all = self.resources.iter().map(|it| it.requested_ms);
        all.min_by(f64::total_cmp).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::study::RunRecord;

    #[test]
    fn metrics_of_a_browser_count_from_its_first_request_and_with_the_bytes_of_the_page() {
        let mut page = corpus::bundled("davies-meenan").expect("bundled").clone();
        page.resources.truncate(2);
        for (resource, bytes) in page.resources.iter_mut().zip([1000, 3000]) {
            (resource.bytes, resource.above_fold) = (bytes, true);
        }
        let resource = |id, requested_ms, arrivals: &[(f64, u64)], end_ms| ObservedResource {
            id,
            requested_ms,
            arrivals: arrivals.to_vec(),
            finished_ms: Some(end_ms),
        };
        let seen = ObservedLoad {
            resources: vec![
                resource(1, 5020.0, &[(5080.0, 2000), (5200.0, 1500)], 5200.0),
                resource(0, 5000.0, &[(5050.0, 500)], 5100.0),
            ],
            first_render_ms: Some(5110.0),
            hero_render_ms: Some(5205.0),
            load_ms: Some(5210.5),
            film: [(5000.0, 0.0), (5110.0, 0.75), (5150.0, 0.5), (5210.0, 1.0)]
                .map(|(time_ms, completeness)| FilmFrame {
                    time_ms,
                    completeness,
                    jpeg: Vec::new(),
                })
                .into(),
            ..ObservedLoad::default()
        };
        let load = Load { completed: true, timeline: timeline(&page, &seen) };
        let run = RunRecord::of_load(&page, &load);
        // 1000 bytes after 100 ms, 3000 after 200 ms.
        assert_eq!(run.byte_index().atf, Some(175.0));
        let metric = |name| run.metrics.get(qlog_tools::metrics::find(name).expect("known")).all;
        assert_eq!(metric("first_render"), Some(110.0));
        assert_eq!(metric("hero_render"), Some(205.0));
        assert_eq!(metric("load"), Some(210.5));
        assert_eq!(metric("dom_content_loaded"), None);
        // Three quarters after 110 ms, the rest after 210 ms.
        assert_eq!(metric("speed_index"), Some(135.0));
        let frames: Vec<String> = load.timeline.frames.iter().map(shown).collect();
        assert_eq!(frames.join(" "), "50:0+500 80:4+2000 100:0+500 200:4+999 200:4+1");
    }

    fn shown(frame: &StreamFrame) -> String {
        format!("{}:{}+{}", frame.time_us / 1000, frame.stream, frame.bytes)
    }
}
