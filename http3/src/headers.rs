//! Rejects malformed requests and responses (RFC 9114, 4.1.2 to 4.3).

use crate::authority::is_authority;
use crate::error::{Code, Error};
use crate::{Header, NameValue, StreamId};

/// Connection-specific fields, which HTTP/3 does not have (RFC 9114, 4.2; RFC 9110, 7.6.1).
const CONNECTION_SPECIFIC: [&[u8]; 5] =
    [b"connection", b"keep-alive", b"proxy-connection", b"transfer-encoding", b"upgrade"];
const SWITCHING_PROTOCOLS: u16 = 101;

/// The values of all fields with this name, in lower case.
pub fn values<'a>(headers: &'a [impl NameValue], name: &str) -> impl Iterator<Item = &'a [u8]> {
    headers.iter().filter(move |it| it.name() == name.as_bytes()).map(NameValue::value)
}

/// The pseudo-header fields of a GET request over https.
pub fn get_request(authority: &str, path: &str) -> Vec<Header> {
    [(":method", "GET"), (":scheme", "https"), (":authority", authority), (":path", path)]
        .map(|(name, value)| Header::new(name.as_bytes(), value.as_bytes()))
        .to_vec()
}

/// The `:status` of a response. `None` in a request.
pub fn status(headers: &[Header]) -> Option<u16> {
    let value = values(headers, ":status").next()?;
    decimal(value)?.try_into().ok()
}

/// The parts of a header section that its stream needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Message {
    /// The status of a response; 0 in a request.
    pub(crate) status: u16,
    pub(crate) content_length: Option<u64>,
    /// Whether it is a request that opens a stream for another protocol.
    pub(crate) is_extended_connect: bool,
}

impl Message {
    /// A 1xx response, after which another follows.
    pub(crate) fn is_interim(self) -> bool {
        (100..200).contains(&self.status)
    }
}

/// Checks a request; `is_extended`: extended CONNECT was offered.
pub(crate) fn check_request(
    stream: StreamId,
    headers: &[Header],
    is_extended: bool,
) -> Result<Message, Error> {
    let checked = Fields::read(headers).and_then(|it| it.check_request(is_extended).map(|()| it));
    let fields = checked.or_else(|reason| malformed(stream, reason))?;
    let is_extended_connect = fields.pseudo(b":protocol").is_some();
    Ok(Message { status: 0, content_length: fields.content_length, is_extended_connect })
}

pub(crate) fn check_response(stream: StreamId, headers: &[Header]) -> Result<Message, Error> {
    let checked = Fields::read(headers).and_then(|it| Ok((it.check_response()?, it)));
    let (status, fields) = checked.or_else(|reason| malformed(stream, reason))?;
    let content_length = fields.content_length;
    Ok(Message { status, content_length, is_extended_connect: false })
}

pub(crate) fn check_trailers(stream: StreamId, headers: &[Header]) -> Result<(), Error> {
    let in_trailers = "a pseudo-header field in the trailers (RFC 9114, 4.3)";
    match Fields::read(headers) {
        Ok(fields) if fields.pseudo.is_empty() => Ok(()),
        Ok(_) => malformed(stream, in_trailers),
        Err(reason) => malformed(stream, reason),
    }
}

/// A malformed message is an error of its stream (RFC 9114, 4.1.2).
pub(crate) fn malformed<T>(stream: StreamId, reason: Malformed) -> Result<T, Error> {
    Code::Message.fail_stream(stream, reason)
}

type Malformed = &'static str;

/// Why no message may have this field beside its pseudo-header fields; `None` if it may.
pub fn malformed_field(name: &str, value: &str) -> Option<&'static str> {
    if name.starts_with(':') {
        return Some("a pseudo-header field (RFC 9114, 4.3)");
    }
    Fields::read(&[(name, value)]).err()
}

/// Why a request with these fields, pseudo-header fields first, is malformed; `None` if it is valid. A gateway also uses it for
/// requests of other HTTP versions. `is_extended`: it offers extended CONNECT (RFC 8441).
pub fn malformed_request(headers: &[impl NameValue], is_extended: bool) -> Option<&'static str> {
    Fields::read(headers).and_then(|it| it.check_request(is_extended)).err()
}

/// A field section that satisfies the rules for every message.
#[derive(Debug, Default)]
struct Fields<'a> {
    pseudo: Vec<(&'a [u8], &'a [u8])>,
    host: Option<&'a [u8]>,
    content_length: Option<u64>,
}

impl<'a> Fields<'a> {
    fn read(headers: &'a [impl NameValue]) -> Result<Self, Malformed> {
        let mut fields = Self::default();
        let mut regular_seen = false;
        for header in headers {
            let (name, value) = (header.name(), header.value());
            if value.iter().any(|byte| (*byte < 0x20 && *byte != b'\t') || *byte == 0x7f) {
                return Err("a control character in a field value (RFC 9114, 10.3)");
            }
            if name.first() != Some(&b':') {
                regular_seen = true;
                fields.take_regular(name, value)?;
            } else if regular_seen {
                return Err("a pseudo-header field after a regular one (RFC 9114, 4.3)");
            } else if fields.pseudo(name).is_some() {
                return Err("a pseudo-header field occurs twice (RFC 9114, 4.3.1)");
            } else if is_known_pseudo(name) {
                fields.pseudo.push((name, value));
            } else {
                return Err("an unknown pseudo-header field (RFC 9114, 4.3)");
            }
        }
        Ok(fields)
    }

    fn take_regular(&mut self, name: &[u8], value: &'a [u8]) -> Result<(), Malformed> {
        if name.iter().any(u8::is_ascii_uppercase) {
            return Err("an uppercase letter in a field name (RFC 9114, 4.2)");
        }
        if name.is_empty() || !name.iter().all(|byte| is_token(*byte)) {
            return Err("not a field name (RFC 9114, 10.3)");
        }
        if CONNECTION_SPECIFIC.contains(&name) || (name == b"te" && value != b"trailers") {
            return Err("a connection-specific field (RFC 9114, 4.2)");
        }
        if name == b"host" {
            if self.host.is_some() {
                return Err("two host fields (RFC 9110, 7.2)");
            }
            self.host = Some(value);
        }
        if name == b"content-length" {
            let length = decimal(value).ok_or("content-length is not a number (RFC 9110, 8.6)")?;
            if self.content_length.is_some_and(|before| before != length) {
                return Err("two different content-length fields (RFC 9110, 8.6)");
            }
            self.content_length = Some(length);
        }
        Ok(())
    }

    fn pseudo(&self, name: &[u8]) -> Option<&'a [u8]> {
        self.pseudo.iter().find(|(it, _)| *it == name).map(|(_, value)| *value)
    }

    fn check_request(&self, is_extended: bool) -> Result<(), Malformed> {
        if self.pseudo(b":status").is_some() {
            return Err(":status in a request (RFC 9114, 4.3)");
        }
        let method = self.pseudo(b":method").ok_or(":method is missing (RFC 9114, 4.3.1)")?;
        if method.is_empty() || !method.iter().all(|byte| is_token(*byte)) {
            return Err(":method is not a token (RFC 9110, 9.1)");
        }
        match self.pseudo(b":protocol") {
            None if method == b"CONNECT" => return self.check_connect(),
            Some(_) if !is_extended || method != b"CONNECT" => {
                return Err(":protocol in a request that may not have it (RFC 9220, 3)");
            }
            // An extended CONNECT has all fields of other requests (RFC 8441, 4).
            _ => {}
        }
        self.check_target(method)
    }

    fn check_target(&self, method: &[u8]) -> Result<(), Malformed> {
        let scheme = self.pseudo(b":scheme").ok_or(":scheme is missing (RFC 9114, 4.3.1)")?;
        let path = self.pseudo(b":path").ok_or(":path is missing (RFC 9114, 4.3.1)")?;
        if path.is_empty() {
            return Err(":path is empty (RFC 9114, 4.3.1)");
        }
        if !is_scheme(scheme) {
            return Err(":scheme is not the scheme of a URI (RFC 9114, 4.3.1)");
        }
        let has_mandatory_authority =
            scheme.eq_ignore_ascii_case(b"https") || scheme.eq_ignore_ascii_case(b"http");
        if has_mandatory_authority && !is_path(path, method) {
            return Err(":path does not begin with a slash (RFC 9114, 4.3.1)");
        }
        match (self.pseudo(b":authority"), self.host) {
            (None, None) if has_mandatory_authority => {
                Err(":authority and host are missing (RFC 9114, 4.3.1)")
            }
            (None, None) => Ok(()),
            (Some(authority), Some(host)) if authority != host => {
                Err(":authority and host differ (RFC 9114, 4.3.1)")
            }
            (Some(authority), _) | (None, Some(authority)) => check_authority(authority),
        }
    }

    fn check_connect(&self) -> Result<(), Malformed> {
        if self.pseudo(b":scheme").is_some() || self.pseudo(b":path").is_some() {
            return Err("CONNECT with :scheme or :path (RFC 9114, 4.4)");
        }
        match self.pseudo(b":authority") {
            None => Err("CONNECT without :authority (RFC 9114, 4.4)"),
            Some(authority) => check_authority(authority),
        }
    }

    fn check_response(&self) -> Result<u16, Malformed> {
        if self.pseudo.iter().any(|(name, _)| *name != b":status") {
            return Err("a pseudo-header field of requests in a response (RFC 9114, 4.3)");
        }
        let status = self.pseudo(b":status").ok_or(":status is missing (RFC 9114, 4.3.2)")?;
        let code = decimal(status).and_then(|it| u16::try_from(it).ok());
        match code {
            Some(SWITCHING_PROTOCOLS) => {
                Err("status 101, which HTTP/3 does not have (RFC 9114, 4.5)")
            }
            Some(code) if status.len() == 3 && code >= 100 => Ok(code),
            _ => Err(":status is not a status code (RFC 9110, 15)"),
        }
    }
}

fn check_authority(authority: &[u8]) -> Result<(), Malformed> {
    match std::str::from_utf8(authority) {
        Ok(text) if is_authority(text) => Ok(()),
        _ => Err("the authority is not a host with or without a port (RFC 3986, 3.2)"),
    }
}

/// A scheme of a URI (RFC 3986, 3.1).
fn is_scheme(scheme: &[u8]) -> bool {
    scheme.first().is_some_and(u8::is_ascii_alphabetic)
        && scheme.iter().all(|it| it.is_ascii_alphanumeric() || b"+-.".contains(it))
}

/// Whether this is a path and query, or the asterisk of an OPTIONS request. Clients send some unescaped characters that RFC 3986
/// does not allow. The server itself rejects other bad paths, with an answer.
fn is_path(path: &[u8], method: &[u8]) -> bool {
    path.starts_with(b"/") || (path == b"*" && method == b"OPTIONS")
}

fn is_known_pseudo(name: &[u8]) -> bool {
    matches!(name, b":method" | b":scheme" | b":authority" | b":path" | b":protocol" | b":status")
}

/// A `tchar` (RFC 9110, 5.6.2).
fn is_token(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte)
}

/// Parses digits. Unlike `str::parse`, it rejects a sign.
fn decimal(value: &[u8]) -> Option<u64> {
    let digits = value.iter().all(u8::is_ascii_digit).then_some(value)?;
    std::str::from_utf8(digits).ok()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const STREAM: StreamId = StreamId(8);
    const GET: &str = ":method=GET :scheme=https :authority=a.example :path=/";

    /// Headers written as `name=value name=value`.
    fn fields(text: &str) -> Vec<Header> {
        let field = |it: &str| {
            it.split_once('=').map(|(name, value)| Header::new(name.as_bytes(), value.as_bytes()))
        };
        text.split(' ').filter_map(field).collect()
    }

    fn request(text: &str) -> Result<Message, Error> {
        check_request(STREAM, &fields(text), false)
    }

    fn is_malformed<T: std::fmt::Debug>(result: Result<T, Error>) -> bool {
        result.is_err_and(|error| error.kind() == Code::Message && error.stream() == Some(STREAM))
    }

    #[test]
    fn a_plain_request_is_well_formed_9114_4_3_1() {
        assert!(request(GET).is_ok());
        assert!(request(":method=GET :scheme=https :path=/ host=a.example").is_ok());
        assert!(request(":method=CONNECT :authority=a.example:443").is_ok());
        assert!(request(&format!("{GET} te=trailers accept=*/* host=a.example")).is_ok());
        assert!(is_malformed(request(&format!("{GET} host=a.example host=a.example"))));
        assert!(request(":method=OPTIONS :scheme=https :authority=a.example :path=*").is_ok());
    }

    /// RFC 9114, 4.3.1. Client: leaves out `:method`, `:scheme` or `:path`, or leaves one empty. Server: `H3_MESSAGE_ERROR` on
    /// the stream.
    #[test]
    fn a_request_without_a_mandatory_pseudo_header_is_malformed_9114_4_3_1() {
        for missing in 0..4 {
            let mut parts: Vec<&str> = GET.split(' ').collect();
            parts.remove(missing);
            assert!(is_malformed(request(&parts.join(" "))), "without {missing}");
        }
        for wrong in [
            ":method=GET :scheme=https :authority=a.example :path=",
            ":method=GET :scheme=https :authority= :path=/",
            ":method= :scheme=https :authority=a.example :path=/",
            ":method=GET :scheme=https :authority=a.example :path=/ host=b.example",
            ":method=CONNECT :scheme=https :authority=a.example :path=/",
            ":method=CONNECT",
        ] {
            assert!(is_malformed(request(wrong)), "{wrong}");
        }
    }

    /// RFC 9114, 4.3.1. Client: names no host, two, or user information. Server: `H3_MESSAGE_ERROR` on the stream.
    #[test]
    fn a_malformed_authority_makes_a_request_malformed_9114_4_3_1() {
        for authority in ["user@a.example", "a.example/b", "a\"b", "a:b", "[::1", "é"] {
            for name in [":authority", "host"] {
                let fields = format!(":method=GET :scheme=https :path=/ {name}={authority}");
                assert!(is_malformed(request(&fields)), "{fields}");
            }
            assert!(is_malformed(request(&format!(":method=CONNECT :authority={authority}"))));
        }
    }

    /// RFC 9114, 4.3.1. Client: sends a `:path` that does not begin with a slash, except `*` of OPTIONS. Server:
    /// `H3_MESSAGE_ERROR` on the stream.
    #[test]
    fn a_malformed_path_or_scheme_makes_a_request_malformed_9114_4_3_1() {
        let asked = |method: &str, scheme: &str, path: &str| {
            let fields = [(":method", method), (":scheme", scheme), (":path", path)];
            let fields = [&fields[..], &[(":authority", "a.example")]].concat();
            let header =
                |(name, value): &(&str, &str)| Header::new(name.as_bytes(), value.as_bytes());
            check_request(STREAM, &fields.iter().map(header).collect::<Vec<_>>(), false).is_ok()
        };
        for path in ["/", "/a%20b?c=d|{e}", "//", "/*", "/a b", "/a#b", "/\u{e9}", "/?a=\"<b>\""] {
            assert!(asked("GET", "https", path), "{path}");
        }
        for path in ["a", "*", "http://a.example/", "/a\nb", "?a"] {
            assert!(!asked("GET", "https", path), "{path}");
        }
        assert!(asked("OPTIONS", "https", "*"));
        for (scheme, is_well_formed) in
            [("HTTPS", true), ("http", true), ("a+b-c.1", true), ("1a", false), ("a b", false)]
        {
            assert_eq!(asked("GET", scheme, "/"), is_well_formed, "{scheme}");
        }
    }

    /// RFC 9114, 4.3. Client: sends a pseudo-header field twice, late, unknown, of responses, or in trailers. Server:
    /// `H3_MESSAGE_ERROR` on the stream.
    #[test]
    fn a_pseudo_header_twice_unknown_or_late_is_malformed_9114_4_3() {
        for wrong in [":path=/", ":protocol=websocket", ":status=200", ":Path=/x"] {
            assert!(is_malformed(request(&format!("{wrong} {GET}"))), "{wrong}");
        }
        assert!(is_malformed(request(&format!("accept=*/* {GET}"))));
    }

    /// RFC 8441, 4. Client: sends `:protocol` without `:scheme`, `:path` or `:authority`, or with another method. Server:
    /// `H3_MESSAGE_ERROR` on the stream.
    #[test]
    fn an_extended_connect_that_is_offered_has_all_fields_of_a_request_8441_4() {
        let extended = |text: &str| {
            let checked = check_request(STREAM, &fields(text), true);
            checked.map(|it| it.is_extended_connect)
        };
        let whole =
            ":method=CONNECT :protocol=websocket :scheme=https :authority=a.example :path=/chat";
        assert_eq!(extended(whole), Ok(true));
        assert!(is_malformed(request(whole)), "it was not offered");
        assert_eq!(extended(":method=CONNECT :authority=a.example:443"), Ok(false));
        assert_eq!(extended(GET), Ok(false));
        for missing in [":scheme=https ", ":authority=a.example ", " :path=/chat"] {
            assert!(is_malformed(extended(&whole.replace(missing, ""))), "without {missing}");
        }
        let wrong = [whole.replace("CONNECT", "GET"), whole.replace("/chat", "chat")];
        for wrong in wrong {
            assert!(is_malformed(extended(&wrong)), "{wrong}");
        }
    }

    /// RFC 9114, 4.2. Client: writes a field name in uppercase. Server: `H3_MESSAGE_ERROR` on the stream.
    #[test]
    fn a_field_name_in_uppercase_or_no_token_is_malformed_9114_4_2() {
        for wrong in ["Accept=1", "aCCEPT=1", "a(b=1", "=1", "é=1"] {
            assert!(is_malformed(request(&format!("{GET} {wrong}"))), "{wrong}");
        }
    }

    /// RFC 9114, 4.2. Client: sends a field of a connection, or `te` other than `trailers`. Server: `H3_MESSAGE_ERROR` on the
    /// stream.
    #[test]
    fn a_connection_specific_field_is_malformed_9114_4_2() {
        for wrong in [
            "connection=close",
            "keep-alive=1",
            "proxy-connection=1",
            "transfer-encoding=chunked",
            "upgrade=h2",
            "te=gzip",
        ] {
            assert!(is_malformed(request(&format!("{GET} {wrong}"))), "{wrong}");
        }
    }

    /// RFC 9114, 10.3. Client: sends a character that a name or value must not have. Server: `H3_MESSAGE_ERROR` on the stream.
    #[test]
    fn a_control_character_in_a_value_is_malformed_9114_10_3() {
        for byte in [0u8, b'\r', b'\n', 0x7f] {
            let headers = [fields(GET), vec![Header::new(b"x", &[b'a', byte])]].concat();
            assert!(is_malformed(check_request(STREAM, &headers, false)), "{byte}");
        }
        let headers = [fields(GET), vec![Header::new(b"x", b"a\tb \xe9")]].concat();
        assert!(check_request(STREAM, &headers, false).is_ok());
    }

    /// RFC 9114, 4.1.2. Client: sends more or less content than `content-length` says. Server: `H3_MESSAGE_ERROR` on the stream.
    #[test]
    fn content_length_is_one_number_9110_8_6() {
        assert_eq!(request(&format!("{GET} content-length=12")).unwrap().content_length, Some(12));
        assert_eq!(
            request(&format!("{GET} content-length=7 content-length=7")).unwrap().content_length,
            Some(7)
        );
        for wrong in ["-1", "+1", "", "1,1", "0x10", "99999999999999999999", "5 content-length=6"] {
            assert!(is_malformed(request(&format!("{GET} content-length={wrong}"))), "{wrong}");
        }
    }

    /// RFC 9114, 4.5. Server: no response has status 101; from a backend it is a 502.
    #[test]
    fn a_response_has_a_status_and_no_other_pseudo_header_9114_4_3_2() {
        let response = |text: &str| check_response(STREAM, &fields(text));
        assert_eq!(
            response(":status=200 content-length=5").unwrap(),
            Message { status: 200, content_length: Some(5), is_extended_connect: false }
        );
        assert!(response(":status=103").unwrap().is_interim());
        assert!(!response(":status=204").unwrap().is_interim());
        for wrong in [
            "",
            "server=x",
            ":status=20",
            ":status=0200",
            ":status=abc",
            ":status=099",
            ":status=101",
        ] {
            assert!(is_malformed(response(wrong)), "{wrong}");
        }
        assert!(is_malformed(response(":status=200 :path=/")));
    }

    /// RFC 9114, 4.3. Client: sends a pseudo-header field twice, late, unknown, of responses, or in trailers. Server:
    /// `H3_MESSAGE_ERROR` on the stream.
    #[test]
    fn trailers_have_no_pseudo_header_9114_4_3() {
        assert!(check_trailers(STREAM, &fields("etag=x")).is_ok());
        assert!(is_malformed(check_trailers(STREAM, &fields(":status=200"))));
    }

    proptest! {
        #[test]
        fn any_fields_are_taken_or_refused(
            fields in proptest::collection::vec((":?[a-z]{0,8}", proptest::collection::vec(any::<u8>(), 0..8)), 0..8),
        ) {
            let headers: Vec<Header> = fields.iter().map(|(name, value)| Header::new(name.as_bytes(), value)).collect();
            let _ = check_request(STREAM, &headers, headers.len().is_multiple_of(2));
            let _ = check_response(STREAM, &headers);
            let _ = check_trailers(STREAM, &headers);
        }
    }
}
