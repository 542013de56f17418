//! The causes that hold a sender back, as logs name them.

/// The cause that held a sender back at a moment. Of more than one, the first of this list counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Restraint {
    /// The handshake was not complete.
    Handshake,
    /// The application had nothing to send.
    Application,
    /// The congestion window was full.
    CongestionWindow,
    /// The other end had been silent for longer than a probe timeout (RFC 9002, section 6.2): nothing could free the window.
    Acknowledgements,
    /// The connection's flow-control limit was reached (RFC 9000, section 4.1).
    ConnectionFlowControl,
    /// Each stream that had bytes was at its flow-control limit.
    StreamFlowControl,
    /// The next packet waited for its time.
    Pacing,
    /// There were bytes that nothing else held back, and the scheduler chose none of them.
    Scheduler,
    /// Nothing: it was sending.
    Nothing,
}

impl Restraint {
    /// The event with which our server logs that another restraint holds from now on.
    pub const EVENT: &'static str = "utmost:restraint";

    /// All of them.
    pub const ALL: [Self; 9] = [
        Self::Handshake,
        Self::Application,
        Self::CongestionWindow,
        Self::Acknowledgements,
        Self::ConnectionFlowControl,
        Self::StreamFlowControl,
        Self::Pacing,
        Self::Scheduler,
        Self::Nothing,
    ];

    /// Its name in logs and in JSON.
    pub fn name(self) -> &'static str {
        match self {
            Self::Handshake => "handshake",
            Self::Application => "application",
            Self::CongestionWindow => "congestion_window",
            Self::Acknowledgements => "acknowledgements",
            Self::ConnectionFlowControl => "connection_flow_control",
            Self::StreamFlowControl => "stream_flow_control",
            Self::Pacing => "pacing",
            Self::Scheduler => "scheduler",
            Self::Nothing => "nothing",
        }
    }

    /// The restraint of this name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|it| it.name() == name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_name_leads_back_to_its_restraint() {
        for restraint in Restraint::ALL {
            assert_eq!(Restraint::named(restraint.name()), Some(restraint));
        }
        assert_eq!(Restraint::named("cpu"), None);
    }
}
