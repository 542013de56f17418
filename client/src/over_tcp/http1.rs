//! HTTP/1.1: several connections for each host, each of which carries one request after another. If none is free, requests
//! wait, and the most urgent one gets the next free connection, as in browsers. As there, interim responses have no effect.

use super::line::{Line, fields, request};
use super::{Arrival, Ask, What, tell, tell_all};
use crate::HttpVersion;
use crate::play_error::PlayError;
use bytes::Bytes;
use http_body_util::{BodyExt, Empty};
use hyper::client::conn::http1::{SendRequest, handshake};
use hyper_util::rt::TokioIo;
use parking_lot::Mutex;
use std::collections::BTreeMap;
use std::io;
use std::sync::Arc;
use tokio::sync::Notify;
use tokio::sync::mpsc::Sender;

/// The most connections for a host, as in browsers.
const CONNECTIONS: usize = 6;

pub(super) struct Hosts {
    line: Arc<Line>,
    to: Sender<Arrival>,
    by_name: BTreeMap<String, Arc<Host>>,
}

#[derive(Default)]
struct Host {
    queue: Mutex<Queue>,
    news: Notify,
}

#[derive(Default)]
struct Queue {
    /// Requests that wait for a connection, in order.
    waiting: Vec<Ask>,
    connections: usize,
    /// Connections that carry a response.
    busy: usize,
}

type Sending = SendRequest<Empty<Bytes>>;

/// Opens the first connection to the page's host.
pub(super) async fn open(
    line: Arc<Line>,
    host: &str,
    to: Sender<Arrival>,
) -> Result<Hosts, PlayError> {
    let first = connect(&line).await?;
    let mut hosts = Hosts { line, to, by_name: BTreeMap::new() };
    hosts.add_connection(host, Some(first));
    Ok(hosts)
}

async fn connect(line: &Line) -> Result<Sending, PlayError> {
    let stream = line.connect().await?;
    let (sender, connection) = handshake(TokioIo::new(stream)).await.map_err(io::Error::other)?;
    // Its errors reach the request that it carries.
    tokio::spawn(connection);
    Ok(sender)
}

impl Hosts {
    pub(super) fn ask(&mut self, ask: Ask) {
        let name = ask.host.clone();
        let host = Arc::clone(self.by_name.entry(name.clone()).or_default());
        let needs_more = {
            let mut queue = host.queue.lock();
            queue.waiting.push(ask);
            let free = queue.connections - queue.busy;
            queue.connections < CONNECTIONS && free < queue.waiting.len()
        };
        if needs_more {
            self.add_connection(&name, None);
        }
        host.news.notify_one();
    }

    fn add_connection(&mut self, host: &str, open: Option<Sending>) {
        let host = Arc::clone(self.by_name.entry(host.to_owned()).or_default());
        host.queue.lock().connections += 1;
        let (line, to) = (Arc::clone(&self.line), self.to.clone());
        tokio::spawn(async move {
            let ended = host.carry(&line, open, &to).await;
            let left = {
                let mut queue = host.queue.lock();
                queue.connections -= 1;
                queue.connections
            };
            if let Err(error) = ended
                && left == 0
            {
                tell_all(&to, error.to_string()).await;
            }
        });
    }
}

impl Host {
    /// Carries requests on one connection. Fails if it could not be opened.
    async fn carry(
        &self,
        line: &Line,
        open: Option<Sending>,
        to: &Sender<Arrival>,
    ) -> Result<(), PlayError> {
        let mut sender = match open {
            Some(sender) => sender,
            None => connect(line).await?,
        };
        loop {
            let ask = self.next().await;
            let id = ask.id;
            if let Err(cause) = exchange(&mut sender, line, ask, to).await {
                tell(to, id, What::Broken(cause)).await;
            }
            self.queue.lock().busy -= 1;
        }
    }

    /// Waits for a request.
    async fn next(&self) -> Ask {
        loop {
            if let Some(ask) = self.queue.lock().take() {
                return ask;
            }
            self.news.notified().await;
        }
    }
}

impl Queue {
    /// The most urgent request; the first among equals.
    fn take(&mut self) -> Option<Ask> {
        let place = (0..self.waiting.len()).min_by_key(|it| self.waiting[*it].urgency)?;
        self.busy += 1;
        Some(self.waiting.remove(place))
    }
}

/// Sends a request, on a new connection if the server has closed this one, and passes the response on.
async fn exchange(
    sender: &mut Sending,
    line: &Line,
    ask: Ask,
    to: &Sender<Arrival>,
) -> Result<(), String> {
    if sender.ready().await.is_err() {
        *sender = connect(line).await.map_err(|it| it.to_string())?;
    }
    let request = request(&ask.fields, HttpVersion::Http1, Empty::new());
    let request = request.ok_or("it cannot be sent over HTTP/1.1")?;
    tell(to, ask.id, What::Asked(ask.fields)).await;
    let plain = |error: hyper::Error| error.to_string();
    let response = sender.send_request(request).await.map_err(plain)?;
    tell(to, ask.id, What::Head(fields(response.status(), response.headers()))).await;
    let mut body = response.into_body();
    while let Some(frame) = body.frame().await {
        if let Ok(bytes) = frame.map_err(plain)?.into_data() {
            tell(to, ask.id, What::Bytes(bytes, false)).await;
        }
    }
    tell(to, ask.id, What::Bytes(Bytes::new(), true)).await;
    Ok(())
}
