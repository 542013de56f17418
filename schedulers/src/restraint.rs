//! The causes that hold a sender back, with their names in logs.

crate::named! {
    /// The cause that held a sender back at a moment. If there are several, the first in this list counts.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
    pub enum Restraint {
        /// The handshake was not complete.
        Handshake = "handshake",
        /// The other end's address was not validated, and the next packet exceeded the bytes that may go there (RFC 9000, sections 8
        /// and 9.3).
        AddressValidation = "address_validation",
        /// The application had nothing to send.
        Application = "application",
        /// The congestion window was full.
        CongestionWindow = "congestion_window",
        /// The other end had been silent for longer than a probe timeout (RFC 9002, section 6.2): nothing could free the window.
        Acknowledgements = "acknowledgements",
        /// The connection's flow-control limit was reached (RFC 9000, section 4.1).
        ConnectionFlowControl = "connection_flow_control",
        /// Each stream with bytes was at its flow-control limit.
        StreamFlowControl = "stream_flow_control",
        /// The next packet waited for its scheduled time.
        Pacing = "pacing",
        /// There were unrestrained bytes, but the scheduler chose none of them.
        Scheduler = "scheduler",
        /// Nothing: it was sending.
        Nothing = "nothing",
    }
}

impl Restraint {
    /// The event with which our server logs a change of the restraint.
    pub const EVENT: &'static str = "utmost:restraint";
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
