//! A running process of the program, and its answers over HTTP/1.1.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Stdio};

/// A process that is ended with the test.
pub(crate) struct Running {
    child: Child,
    /// Its host and port.
    pub(crate) address: String,
    /// The beginning of all paths: of `view`, its token.
    pub(crate) below: String,
}

impl Running {
    /// Starts the program, which prints its address.
    pub(crate) fn start(arguments: &[&str]) -> Self {
        let mut child = std::process::Command::new(crate::PROGRAM)
            .current_dir(crate::REPOSITORY)
            .args(arguments)
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("the program starts");
        let mut line = String::new();
        let stdout = child.stdout.take().expect("piped");
        BufReader::new(stdout).read_line(&mut line).expect("a line");
        let address = line.trim().trim_start_matches("listening on ").trim_start_matches("http://");
        let (address, path) = address.split_once('/').unwrap_or((address, ""));
        let token = path.split('/').next().filter(|it| !it.is_empty());
        let below = token.map_or(String::new(), |it| format!("/{it}"));
        Self { child, address: address.to_owned(), below }
    }

    /// One request over HTTP/1.1, below the token: the whole answer.
    pub(crate) fn http(&self, request_line: &str, host: &str, body: &str) -> String {
        self.http_of_type(request_line, host, "application/x-qlog", body)
    }

    /// The same with a body of this type.
    pub(crate) fn http_of_type(
        &self,
        request_line: &str,
        host: &str,
        mime: &str,
        body: &str,
    ) -> String {
        let request_line = request_line.replacen(" /", &format!(" {}/", self.below), 1);
        let mut stream = TcpStream::connect(&self.address).expect("it listens");
        let length = body.len();
        write!(
            stream,
            "{request_line} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\nContent-Type: {mime}\r\nContent-Length: {length}\r\n\r\n{body}"
        )
        .expect("sent");
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).expect("answered");
        String::from_utf8_lossy(&answer).into_owned()
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.child.kill().ok();
        self.child.wait().ok();
    }
}
