//! The link between network namespaces: real sockets of this machine's system on both ends.

use lab::network::Network;
use lab::relay::tun::{Ends, SERVER, TunRelay};
use simulator::link::{Link, Way};
use std::fs;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream, UdpSocket};
use std::path::Path;
use std::thread;
use std::time::Duration;

/// A test ends, however busy the machine is.
const PATIENCE: Option<Duration> = Some(Duration::from_secs(20));

#[test]
fn udp_through_namespaces_loses_the_datagrams_that_the_model_loses() {
    let network = "rate = 10e6\ndelay_ms = 5\nqueue = \"unlimited\"\n[up]\ndrops = [2, 5]\n";
    let came: Option<(Vec<(u8, usize)>, String)> = linked(network, |ends| {
        let server = ends.server.within(|| UdpSocket::bind((SERVER, 4433)))?;
        server.set_read_timeout(PATIENCE)?;
        let client = ends.client.within(|| UdpSocket::bind(("0.0.0.0", 0)))?;
        for number in 1..=7 {
            client.send_to(&[number; 1000], (SERVER, 4433))?;
        }
        let mut buffer = [0; 2000];
        (0..5).map(|_| server.recv(&mut buffer).map(|bytes| (buffer[0], bytes))).collect()
    });
    let Some((came, log)) = came else { return };
    assert_eq!(came, [1, 3, 4, 6, 7].map(|number| (number, 1000)));
    // With the headers of IP and UDP.
    assert!(log.lines().all(|it| it.contains("\"way\":\"up\"") && it.contains("\"bytes\":1028")));
}

#[test]
fn tcp_through_namespaces_meets_the_link_of_the_model() {
    let network = "rate = 20e6\ndelay_ms = 5\nqueue = { bytes = 20000 }\n[down]\nloss = 0.02\n";
    let came = linked(network, |ends| {
        let listener = ends.server.within(|| TcpListener::bind((SERVER, 80)))?;
        let serving = thread::spawn(move || listener.accept()?.0.write_all(&vec![7; 300_000]));
        let mut stream = ends.client.within(|| TcpStream::connect((SERVER, 80)))?;
        stream.set_read_timeout(PATIENCE)?;
        let mut body = Vec::new();
        stream.read_to_end(&mut body)?;
        serving.join().expect("the server does not panic")?;
        Ok(body)
    });
    let Some((body, log)) = came else { return };
    assert_eq!(body, vec![7; 300_000]);
    let down = log.lines().filter(|it| it.contains("\"way\":\"down\""));
    assert!(down.clone().any(|it| it.contains("\"cause\":\"queue\"")), "its queue is short");
    let mut down: Vec<&str> = down.collect();
    let mut model = model(network, &down);
    // The relay's last packets may still have been on their way.
    model.retain(|it| down.contains(&it.as_str()));
    down.sort_unstable();
    model.sort_unstable();
    assert_eq!(down, model);
}

/// What `client` found behind `network`, and the link's log; `None` where namespaces are not allowed.
fn linked<R>(
    network: &str,
    client: impl FnOnce(&Ends) -> std::io::Result<R>,
) -> Option<(R, String)> {
    let folder = tempfile::tempdir().expect("a folder");
    let log = folder.path().join("log.jsonl");
    let file = fs::File::create(&log).expect("a file");
    let network = described(folder.path(), network);
    let (mut relay, ends) = match TunRelay::between(network, 1, Some(Box::new(file))) {
        Ok(it) => it,
        Err(error) => {
            fixtures::skip(&error.to_string());
            return None;
        }
    };
    let stop = relay.stopper();
    let relaying = thread::spawn(move || relay.run());
    let found = client(&ends).expect("the client's end works");
    stop.stop();
    relaying.join().expect("the relay does not panic").expect("it relays");
    Some((found, fs::read_to_string(log).expect("a log")))
}

fn described(folder: &Path, network: &str) -> Network {
    let file = folder.join("network.toml");
    fs::write(&file, network).expect("written");
    Network::find(file.to_str().expect("UTF-8")).expect("a network")
}

/// The log of a link in virtual time, to which the same packets are offered at the same times.
fn model(network: &str, log: &[&str]) -> Vec<String> {
    let folder = tempfile::tempdir().expect("a folder");
    let network = described(folder.path(), network);
    let mut link: Link = Link::new(&network.down, Way::Down, 1).logged();
    let mut offered: Vec<[u64; 3]> = log.iter().map(|it| offer(it)).collect();
    offered.sort_unstable();
    for [_, offered_ns, bytes] in offered {
        while link.arrival(offered_ns).is_some() {}
        link.offer(offered_ns, vec![0; usize::try_from(bytes).expect("a length")]);
    }
    while link.arrival(u64::MAX).is_some() {}
    link.take_log().iter().map(|it| it.json_line().trim_end().to_owned()).collect()
}

/// A packet's number, when it was offered, and its bytes.
fn offer(line: &str) -> [u64; 3] {
    let entry: serde_json::Value = serde_json::from_str(line).expect("JSON");
    ["number", "offered_ns", "bytes"].map(|it| entry[it].as_u64().expect("a number"))
}
