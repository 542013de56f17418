//! Violations of the extension, and responses that cannot continue.

use http3::Code;

/// Why a migration fails.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, thiserror::Error)]
pub enum Error {
    /// Some of the three settings are missing, or one is out of range.
    #[error("the settings do not name a connection: three values of 32 bits are needed")]
    Settings,
    /// A frame or a stream header with another layout.
    #[error("a MIGRATE frame or the header of a continuation has another layout")]
    Layout,
    /// The name does not follow from the TLS session, or all connections of its application are over.
    #[error("the connection's name does not belong to its TLS session")]
    Forged,
    /// A connection of this name exists.
    #[error("two connections have one name")]
    Taken,
    /// The application has too many connections.
    #[error("the application has more connections than our limit")]
    Full,
    /// Too many frames name unknown connections.
    #[error("more frames wait for their connections than our limit")]
    TooMany,
    /// The destination belongs to another application.
    #[error("the destination belongs to another application")]
    Foreign,
    /// The answer names a connection that neither end proposed.
    #[error("the answer names a destination that was not proposed")]
    OtherDestination,
    /// A second MIGRATE of one response.
    #[error("a response migrates twice")]
    Twice,
    /// An answer without a question.
    #[error("MIGRATE answers a question that was not asked")]
    Unasked,
    /// The offset contradicts the bytes that were sent or received.
    #[error("MIGRATE or a continuation names an impossible offset")]
    Offset,
    /// A request whose content is incomplete.
    #[error("a request that is not complete cannot migrate")]
    OpenRequest,
    /// Bytes that must be sent again were discarded.
    #[error("the destination failed, and the lost bytes cannot be sent again")]
    NotKept,
    /// The offset contradicts the bytes that were sent or received.
    #[error("the peer does not answer MIGRATE")]
    Unanswered,
}

/// The scope of an error: the part that ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Scope {
    /// The extension on this connection, which continues without a name.
    Extension,
    /// The connection on which the bytes arrived.
    Connection,
    /// The response, on both connections; other streams continue.
    Response,
}

impl Error {
    /// The code for the wire.
    pub fn code(self) -> Code {
        match self {
            Self::Settings => Code::Settings,
            Self::Layout => Code::Frame,
            Self::Forged | Self::Taken | Self::Foreign | Self::OtherDestination | Self::Offset => {
                Code::Id
            }
            Self::Full | Self::TooMany => Code::ExcessiveLoad,
            Self::Twice | Self::Unasked | Self::OpenRequest => Code::FrameUnexpected,
            Self::NotKept => Code::Internal,
            Self::Unanswered => Code::GeneralProtocol,
        }
    }

    /// The part that the error ends.
    pub fn scope(self) -> Scope {
        match self {
            Self::Forged | Self::Taken | Self::Full => Scope::Extension,
            Self::Settings | Self::Layout | Self::TooMany => Scope::Connection,
            _ => Scope::Response,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cannot_be_parsed_ends_the_connection_and_a_wrong_migration_only_its_response() {
        let row = |it: Error| (it.code().name(), it.scope());
        assert_eq!(row(Error::Layout), ("H3_FRAME_ERROR", Scope::Connection));
        assert_eq!(row(Error::Forged), ("H3_ID_ERROR", Scope::Extension));
        assert_eq!(row(Error::Twice), ("H3_FRAME_UNEXPECTED", Scope::Response));
        assert_eq!(row(Error::NotKept), ("H3_INTERNAL_ERROR", Scope::Response));
    }
}
