//! The same site over HTTP/3, HTTP/2 and HTTP/1.1, on one port number.

mod announcement;
mod backends;
mod browser;
mod clients;
mod endings;
mod first_lines;
mod h2spec;
mod life;
mod limits;
mod names;
mod neighbours;
mod order;
mod substitutes;
mod table;
mod trailers;
pub(crate) mod websockets;

use crate::fetch::{Ask, Fetched, fetch};
use clients::{fetch_1, fetch_2};
use gateway::site::{DirectorySite, RuledSite};
use gateway::{Listeners, Sending};
use schedulers::find_scheme;
use server::event_loop::{EventLoop, Stop};
use server::site::Site;
use server::{Answered, Event, Identity, Limits, Observer, Observers, Options, Server};
use std::net::{SocketAddr, TcpListener};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use tempfile::TempDir;

/// A server of all versions; it stops when dropped.
pub(crate) struct Serving {
    pub(crate) address: SocketAddr,
    pub(crate) plain: SocketAddr,
    pub(crate) stop: Stop,
    /// A browser's pin for the certificate.
    pub(crate) pin: String,
    thread: Option<JoinHandle<usize>>,
    pub(crate) events: Arc<Events>,
}

/// The events that a server reported.
#[derive(Default)]
pub(crate) struct Events(Mutex<Vec<Event>>);

impl Observer for Events {
    fn notice(&self, event: &Event) {
        self.0.lock().expect("whole").push(event.clone());
    }
}

impl Events {
    /// The responses that have ended.
    fn answered(&self) -> Vec<Arc<Answered>> {
        let answered = |it: &Event| match it {
            Event::Answered(it) => Some(Arc::clone(it)),
            _ => None,
        };
        self.0.lock().expect("whole").iter().filter_map(answered).collect()
    }

    fn count(&self, wanted: impl Fn(&Event) -> bool) -> usize {
        self.0.lock().expect("whole").iter().filter(|it| wanted(it)).count()
    }
}

impl Serving {
    pub(crate) fn start(site: impl Site + 'static) -> Self {
        Self::within(site, Limits::default())
    }

    pub(crate) fn within(site: impl Site + 'static, limits: Limits) -> Self {
        Self::showing(&Identity::self_signed().expect("a certificate"), site, limits)
    }

    pub(crate) fn showing(identity: &Identity, site: impl Site + 'static, limits: Limits) -> Self {
        let options = Options { limits, ..Options::new(find_scheme("rfc9218").expect("known")) };
        Self::with(identity, RuledSite::of(site), options)
    }

    pub(crate) fn with(identity: &Identity, site: RuledSite, options: Options) -> Self {
        let local = SocketAddr::from(([127, 0, 0, 1], 0));
        let (mut event_loop, secure) = std::iter::repeat_with(|| {
            let event_loop = EventLoop::bind(local).expect("a free port");
            let address = event_loop.local_addr().expect("bound");
            (event_loop, TcpListener::bind(address))
        })
        .find_map(|(event_loop, secure)| Some((event_loop, secure.ok()?)))
        .expect("a free port");
        let plain = TcpListener::bind(local).expect("a free port");
        let plain_address = plain.local_addr().expect("bound");
        let address = event_loop.local_addr().expect("bound");
        let events = Arc::new(Events::default());
        let mut observers = Observers::default();
        observers.add(Arc::clone(&events) as Arc<dyn Observer>);
        let alt_svc_port = Some(address.port());
        let options = Options { observers, alt_svc_port, ..options };
        let pin = identity.public_key_pin().expect("a pin");
        let mut server = Server::new(address, identity, site, options).expect("a server");
        let listeners =
            Listeners { secure: vec![secure], plain: vec![plain], sending: Sending::default() };
        gateway::serve_tcp(&mut server, listeners, identity, 2).expect("a thread");
        let stop = event_loop.stopper();
        let run = move || event_loop.run(&mut server).expect("no socket error");
        let thread = Some(std::thread::spawn(run));
        Self { address, plain: plain_address, stop, pin, thread, events }
    }

    /// The answers of the three versions, HTTP/3 first.
    pub(crate) fn ask(&self, ask: &Ask) -> [Fetched; 3] {
        let third = fetch(self.address, std::slice::from_ref(ask), 0).remove(0);
        let second = fetch_2(self.address, std::slice::from_ref(ask)).remove(0);
        [third, second, fetch_1(self.address, ask)]
    }

    /// Waits for the end. Returns how many connections were cut.
    pub(crate) fn ended(mut self) -> usize {
        self.thread.take().expect("it runs").join().expect("no panic")
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        self.stop.hurry();
        if let Some(thread) = self.thread.take() {
            thread.join().expect("no panic");
        }
    }
}

/// A folder with these files, and its site.
pub(crate) fn folder(files: &[(&str, &[u8])]) -> (TempDir, DirectorySite) {
    let folder = tempfile::tempdir().expect("a folder");
    for (name, bytes) in files {
        std::fs::write(folder.path().join(name), bytes).expect("written");
    }
    let site = DirectorySite::open(folder.path()).expect("a folder");
    (folder, site)
}

/// Bytes without two equal parts.
pub(crate) fn bytes(count: u32) -> Vec<u8> {
    (0..count).flat_map(u32::to_le_bytes).take(count as usize).collect()
}

#[test]
fn all_versions_give_the_same_answer_byte_for_byte() {
    let large = bytes(3_000_000);
    let (_folder, site) = folder(&[("small.css", b"a{}"), ("large.bin", &large)]);
    let server = Serving::start(site);
    for (path, expected) in [("/small.css", &b"a{}"[..]), ("/large.bin", &large)] {
        let [third, second, first] = server.ask(&Ask::get(path));
        assert!(third.finished && second.finished && first.finished, "{path}");
        assert!(third.body == expected && second.body == expected && first.body == expected);
        assert_eq!((third.status, third.fields()), (second.status, second.fields()), "{path}");
        assert_eq!((third.status, third.fields()), (first.status, first.fields()), "{path}");
        let alt_svc = format!("h3=\":{}\"; ma=86400", server.address.port());
        assert_eq!(first.field("alt-svc"), Some(alt_svc.as_str()));
    }
    let answered = server.events.answered();
    let mut log: Vec<_> = answered
        .iter()
        .map(|it| (it.path.as_str(), it.protocol.name(), it.status, it.bytes, it.is_complete))
        .filter(|it| it.0 == "/large.bin")
        .collect();
    log.sort_unstable();
    let line = |protocol| ("/large.bin", protocol, 200, 3_000_000, true);
    assert_eq!(log, ["HTTP/1.1", "HTTP/2", "HTTP/3"].map(line));
}

/// It takes a while, so a thread does it.
#[test]
fn a_large_text_is_compressed_in_every_version_and_validated_by_its_tag() {
    let text = (0..400_000).map(|it| format!("{it:06} ")).collect::<Vec<_>>().concat();
    let (_folder, site) = folder(&[("large.txt", text.as_bytes())]);
    let server = Serving::start(site);
    let ask = Ask::get("/large.txt").with("accept-encoding", "gzip");
    for got in server.ask(&ask) {
        assert_eq!((got.status, got.field("content-encoding")), (200, Some("gzip")));
        assert_eq!(got.field("cache-control"), Some("no-cache"));
        let mut read = String::new();
        let mut decoder = flate2::read::GzDecoder::new(got.body.as_slice());
        std::io::Read::read_to_string(&mut decoder, &mut read).expect("gzip");
        assert!(read == text, "{} bytes", read.len());
        let tag = got.field("etag").expect("a tag");
        for same in server.ask(&ask.clone().with("if-none-match", tag)) {
            assert_eq!((same.status, same.body.len()), (304, 0));
        }
    }
    // It is no answer of a backend.
    assert_eq!(server.events.count(|it| matches!(it, Event::BackendAsked)), 0);
}

#[test]
fn many_requests_of_one_connection_get_their_own_answers() {
    let names: Vec<String> = (0..100).map(|it| format!("{it}.txt")).collect();
    let bodies: Vec<Vec<u8>> = (0..100).map(|it| vec![it; 1000 * usize::from(it)]).collect();
    let files: Vec<(&str, &[u8])> =
        names.iter().zip(&bodies).map(|(name, body)| (name.as_str(), body.as_slice())).collect();
    let (_folder, site) = folder(&files);
    let server = Serving::start(site);
    let asks: Vec<Ask> = names.iter().map(|it| Ask::get(&format!("/{it}"))).collect();
    let got = fetch_2(server.address, &asks);
    assert!(got.iter().zip(&bodies).all(|(got, body)| got.finished && got.body == *body));
}

#[test]
fn plain_http_leads_to_https_only_for_hosts_of_the_site() {
    let (_folder, site) = folder(&[("a", b"a")]);
    let site = RuledSite::of(site).only_for(&["a.test".to_owned()]);
    let options = Options::new(find_scheme("rfc9218").expect("known"));
    let server = Serving::with(&Identity::self_signed().expect("a certificate"), site, options);
    let ask = |head: &str| {
        use std::io::Write;
        let mut stream = clients::plain(server.plain);
        write!(stream, "{head}\r\n\r\n").expect("sent");
        clients::response(&mut std::io::BufReader::new(stream), "HEAD")
    };
    let redirected = ask("GET /a?b HTTP/1.1\r\nHost: a.test:80");
    let location = format!("https://a.test:{}/a?b", server.address.port());
    assert_eq!((redirected.status, redirected.field("location")), (308, Some(location.as_str())));
    let foreign = ask("GET / HTTP/1.1\r\nHost: evil.test");
    assert_eq!((foreign.status, foreign.field("location")), (421, None));
    assert_eq!(ask("GET / HTTP/1.1").status, 400);
    assert_eq!(ask("OPTIONS * HTTP/1.1\r\nHost: a.test").status, 400);
    assert_eq!(ask("garbage").status, 400);
    let with = |count: usize, bytes: usize| {
        let fields = format!("\r\nx: {}", "v".repeat(bytes)).repeat(count);
        ask(&format!("GET / HTTP/1.1\r\nHost: a.test{fields}")).status
    };
    assert_eq!(
        [with(999, 1), with(1000, 1), with(1, 50_000), with(1, 200_000)],
        [308, 431, 308, 431]
    );
}
