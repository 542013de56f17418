//! Protocol errors by the peer: a code for the wire, and a reason for the reader.

use schedulers::StreamId;

/// Defines the codes in one table: name, value on the wire, the RFCs' name, meaning.
macro_rules! codes {
    ($($code:ident = $value:literal, $name:literal, $meaning:literal;)*) => {
        /// The error codes of HTTP/3 and QPACK, with their values on the wire (RFC 9114, 8.1; RFC 9204, 6). A session
        /// raises only errors that the peer has caused; the owner of the connection uses the others.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub enum Code {
            $(#[doc = concat!("`", $name, "`: ", $meaning)] $code = $value,)*
        }

        impl Code {
            const ALL: &[Self] = &[$(Self::$code),*];

            /// The name the RFCs give it.
            pub fn name(self) -> &'static str {
                match self {
                    $(Self::$code => $name,)*
                }
            }
        }
    };
}

codes! {
    NoError = 0x0100, "H3_NO_ERROR", "the connection or stream is closed without an error.";
    GeneralProtocol = 0x0101, "H3_GENERAL_PROTOCOL_ERROR", "nothing more specific fits.";
    Internal = 0x0102, "H3_INTERNAL_ERROR", "our side cannot continue.";
    StreamCreation = 0x0103, "H3_STREAM_CREATION_ERROR", "a stream that must not be opened.";
    ClosedCriticalStream = 0x0104, "H3_CLOSED_CRITICAL_STREAM", "a control or QPACK stream ended.";
    FrameUnexpected = 0x0105, "H3_FRAME_UNEXPECTED", "a frame at the wrong time or on the wrong stream.";
    Frame = 0x0106, "H3_FRAME_ERROR", "a frame whose length or layout is wrong.";
    ExcessiveLoad = 0x0107, "H3_EXCESSIVE_LOAD", "a limit of [`crate::Limits`] was exceeded.";
    Id = 0x0108, "H3_ID_ERROR", "an impossible stream ID or push ID.";
    Settings = 0x0109, "H3_SETTINGS_ERROR", "a SETTINGS frame with forbidden contents.";
    MissingSettings = 0x010a, "H3_MISSING_SETTINGS", "the control stream did not begin with SETTINGS.";
    RequestRejected = 0x010b, "H3_REQUEST_REJECTED", "a server did nothing with the request; it may be sent again.";
    RequestCancelled = 0x010c, "H3_REQUEST_CANCELLED", "the request or its response is no longer wanted.";
    RequestIncomplete = 0x010d, "H3_REQUEST_INCOMPLETE", "a request ended before its header section.";
    Message = 0x010e, "H3_MESSAGE_ERROR", "a malformed request or response.";
    Connect = 0x010f, "H3_CONNECT_ERROR", "the connection behind a CONNECT request failed.";
    VersionFallback = 0x0110, "H3_VERSION_FALLBACK", "ask again over HTTP/1.1.";
    QpackDecompressionFailed = 0x0200, "QPACK_DECOMPRESSION_FAILED", "a field section that cannot be decoded.";
    QpackEncoderStream = 0x0201, "QPACK_ENCODER_STREAM_ERROR", "an instruction that needs a dynamic table.";
    QpackDecoderStream = 0x0202, "QPACK_DECODER_STREAM_ERROR", "an acknowledgement of something never sent.";
}

impl Code {
    /// The code with this value on the wire, if there is one.
    pub fn of(value: u64) -> Option<Self> {
        Self::ALL.iter().copied().find(|code| code.value() == value)
    }

    /// Its value on the wire.
    pub fn value(self) -> u64 {
        self as u64
    }

    /// Fails with an error that ends the connection.
    pub(crate) fn fail<T>(self, reason: &'static str) -> Result<T, Error> {
        Err(Error::connection(self, reason))
    }

    /// Fails with an error that ends only `stream`.
    pub(crate) fn fail_stream<T>(self, stream: StreamId, reason: &'static str) -> Result<T, Error> {
        Err(Error { code: self, stream: Some(stream), reason })
    }
}

pub(crate) fn unexpected<T>(reason: &'static str) -> Result<T, Error> {
    Code::FrameUnexpected.fail(reason)
}

/// A breach of the protocol, of one stream or of the whole connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("{} on {}: {reason}", .code.name(), scope(*.stream))]
pub struct Error {
    code: Code,
    stream: Option<StreamId>,
    reason: &'static str,
}

impl Error {
    pub(crate) fn connection(code: Code, reason: &'static str) -> Self {
        Self { code, stream: None, reason }
    }

    /// The value for `CONNECTION_CLOSE`, or for `RESET_STREAM` and `STOP_SENDING`.
    pub fn code(&self) -> u64 {
        self.code.value()
    }

    /// The same as [`Self::code`], by name.
    pub fn kind(&self) -> Code {
        self.code
    }

    /// The stream in error. `None`: the whole connection.
    pub fn stream(&self) -> Option<StreamId> {
        self.stream
    }
}

fn scope(stream: Option<StreamId>) -> String {
    stream.map_or("the connection".to_owned(), |it| format!("stream {}", it.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_is_one_line_with_its_name_place_and_cause() {
        let of_a_stream = Error {
            code: Code::Message,
            stream: Some(StreamId(4)),
            reason: ":path is missing (RFC 9114, 4.3.1)",
        };
        assert_eq!(
            of_a_stream.to_string(),
            "H3_MESSAGE_ERROR on stream 4: :path is missing (RFC 9114, 4.3.1)"
        );
        assert_eq!(of_a_stream.code(), 0x10e);
        let of_all = Error::connection(Code::Id, "no such push (RFC 9114, 4.6)");
        assert_eq!(
            of_all.to_string(),
            "H3_ID_ERROR on the connection: no such push (RFC 9114, 4.6)"
        );
        assert_eq!(of_all.stream(), None);
    }

    #[test]
    fn a_code_is_found_by_its_value_9114_8_1_and_9204_6() {
        assert_eq!((0x100..=0x110).filter_map(Code::of).count(), 17);
        assert_eq!((0x200..=0x202).filter_map(Code::of).count(), 3);
        assert_eq!(Code::of(0x10c).map(Code::name), Some("H3_REQUEST_CANCELLED"));
        assert_eq!(Code::of(0x111), None);
    }
}
