//! The server's certificate, and the transport's configuration that carries it.

mod one_size;
mod validity;

use crate::responder::settings;
use crate::site::Names;
use crate::{CongestionControl, Datagrams, Options};
use boring::asn1::Asn1Time;
use boring::bn::{BigNum, MsbOption};
use boring::ec::{EcGroup, EcKey};
use boring::error::ErrorStack;
use boring::hash::{MessageDigest, hash};
use boring::nid::Nid;
use boring::pkey::{PKey, Private};
use boring::ssl::{
    AlpnError, NameType, SelectCertError, SslAcceptor, SslContextBuilder, SslMethod, SslRef,
    select_next_proto,
};
use boring::x509::extension::SubjectAlternativeName;
use boring::x509::{X509, X509NameBuilder};
use one_size::{OneSize, SIGNATURE_BYTES};
use std::net::IpAddr;
use std::path::{Path, PathBuf};
pub use validity::Validity;

/// A certificate chain and its private key.
#[derive(Clone)]
pub struct Identity {
    chain: Vec<X509>,
    key: PKey<Private>,
    /// Whether its handshakes are all of one size.
    is_one_size: bool,
    /// Those for other hosts.
    others: Vec<Self>,
}

/// A certificate, key or transport setting that cannot be used.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "the messages say it")]
pub enum TlsError {
    #[error("{0}: {1}")]
    Unreadable(PathBuf, #[source] std::io::Error),
    #[error("{0}: holds no {1} in PEM form")]
    Malformed(PathBuf, &'static str),
    #[error("{key}: not the key of the certificate in {certificate}")]
    Mismatch { certificate: PathBuf, key: PathBuf },
    #[error("TLS: {0}")]
    Library(#[from] ErrorStack),
    #[error("transport: {0}")]
    Transport(#[from] quiche::Error),
    #[error("the system has no randomness")]
    Randomness,
}

impl Identity {
    /// Reads a certificate chain and its key, both PEM.
    pub fn load(certificate: &Path, key: &Path) -> Result<Self, TlsError> {
        let malformed = |path: &Path, expected| TlsError::Malformed(path.to_owned(), expected);
        let chain = X509::stack_from_pem(&read(certificate)?)
            .map_err(|_| malformed(certificate, "certificate"))?;
        let private =
            PKey::private_key_from_pem(&read(key)?).map_err(|_| malformed(key, "private key"))?;
        let first = chain.first().ok_or_else(|| malformed(certificate, "certificate"))?;
        if !first.public_key()?.public_eq(&private) {
            return Err(TlsError::Mismatch {
                certificate: certificate.to_owned(),
                key: key.to_owned(),
            });
        }
        Ok(Self { chain, key: private, is_one_size: false, others: Vec::new() })
    }

    /// Makes a certificate for `localhost` and the loopback addresses, valid for 30 days. Its handshakes are all of one size.
    pub fn self_signed() -> Result<Self, TlsError> {
        Self::self_signed_for(&[])
    }

    /// The same, also for these hosts or addresses.
    pub fn self_signed_for(names: &[String]) -> Result<Self, TlsError> {
        let group = EcGroup::from_curve_name(Nid::X9_62_PRIME256V1)?;
        let key = PKey::from_ec_key(EcKey::generate(&group)?)?;
        loop {
            let certificate = Self::certificate(&key, names)?;
            if certificate.signature().len() == SIGNATURE_BYTES {
                let chain = vec![certificate];
                return Ok(Self { chain, key, is_one_size: true, others: Vec::new() });
            }
        }
    }

    /// With another certificate, which is for clients that request a host that it names and this one does not (by the server name of TLS,
    /// RFC 6066, 3).
    #[must_use]
    pub fn beside(mut self, other: Self) -> Self {
        self.others.push(other);
        self
    }

    /// The names of the hosts that the certificates are for. `None`: a certificate names none, or was made by [`Self::self_signed`].
    pub fn names(&self) -> Option<Vec<String>> {
        let mut names = self.own_names();
        if self.is_one_size || names.is_empty() {
            return None;
        }
        for other in &self.others {
            names.extend(other.names()?);
        }
        Some(names)
    }

    fn own_names(&self) -> Vec<String> {
        let names = self.chain.first().and_then(|it| it.subject_alt_names());
        let names = names.iter().flatten().filter_map(|it| it.dnsname());
        names.map(str::to_owned).collect()
    }

    /// The certificate for a host: the first that names it, otherwise the first.
    fn for_host(&self, host: Option<&str>) -> &Self {
        let is_for = |identity: &&Self| {
            let names = identity.own_names();
            host.is_some_and(|host| Names::new(names.iter().map(String::as_str)).include(host))
        };
        std::iter::once(self).chain(&self.others).find(is_for).unwrap_or(self)
    }

    fn certificate(key: &PKey<Private>, more: &[String]) -> Result<X509, ErrorStack> {
        let mut name = X509NameBuilder::new()?;
        name.append_entry_by_text("CN", "localhost")?;
        let name = name.build();
        let mut serial = BigNum::new()?;
        serial.rand(127, MsbOption::ONE, false)?;
        let mut builder = X509::builder()?;
        builder.set_version(2)?;
        let serial = serial.to_asn1_integer()?;
        builder.set_serial_number(&serial)?;
        builder.set_subject_name(&name)?;
        builder.set_issuer_name(&name)?;
        let (from, until) = (Asn1Time::days_from_now(0)?, Asn1Time::days_from_now(30)?);
        builder.set_not_before(&from)?;
        builder.set_not_after(&until)?;
        builder.set_pubkey(key)?;
        let mut names = SubjectAlternativeName::new();
        names.dns("localhost").ip("127.0.0.1").ip("::1");
        for name in more {
            if name.parse::<IpAddr>().is_ok() {
                names.ip(name)
            } else {
                names.dns(name)
            };
        }
        let names = names.build(&builder.x509v3_context(None, None))?;
        builder.append_extension(&names)?;
        builder.sign(key, MessageDigest::sha256())?;
        Ok(builder.build())
    }

    /// Makes the handshakes of a context show this certificate, or the one for the host that a client requests.
    fn present(&self, tls: &mut SslContextBuilder) -> Result<(), ErrorStack> {
        if !self.others.is_empty() {
            let all = self.clone();
            tls.set_select_certificate_callback(move |mut hello| {
                let host = hello.servername(NameType::HOST_NAME).map(str::to_owned);
                let chosen = all.for_host(host.as_deref());
                chosen.present_once(hello.ssl_mut()).map_err(|_| SelectCertError::ERROR)
            });
            return Ok(());
        }
        if let Some((first, rest)) = self.chain.split_first() {
            tls.set_certificate(first)?;
            for certificate in rest {
                tls.add_extra_chain_cert(certificate.clone())?;
            }
        }
        if self.is_one_size {
            tls.set_private_key_method(OneSize(self.key.clone()));
        } else {
            tls.set_private_key(&self.key)?;
        }
        Ok(())
    }

    /// Makes one handshake show this certificate.
    fn present_once(&self, tls: &mut SslRef) -> Result<(), ErrorStack> {
        if let Some((first, rest)) = self.chain.split_first() {
            tls.set_certificate(first)?;
            for certificate in rest {
                tls.add_chain_cert(certificate)?;
            }
        }
        tls.set_private_key(&self.key)
    }

    /// Base64 of the SHA-256 of the public key (RFC 7469, 2.4), which Chromium accepts in `--ignore-certificate-errors-spki-list` to trust
    /// a self-signed certificate.
    pub fn public_key_pin(&self) -> Result<String, TlsError> {
        pin(&self.key.public_key_to_der()?)
    }
}

/// Like [`Identity::public_key_pin`], for the first certificate in a PEM file.
pub fn certificate_pin(certificate: &Path) -> Result<String, TlsError> {
    let first = X509::from_pem(&read(certificate)?)
        .map_err(|_| TlsError::Malformed(certificate.to_owned(), "certificate"))?;
    pin(&first.public_key()?.public_key_to_der()?)
}

fn pin(public_key: &[u8]) -> Result<String, TlsError> {
    Ok(boring::base64::encode_block(&hash(MessageDigest::sha256(), public_key)?))
}

fn read(path: &Path) -> Result<Vec<u8>, TlsError> {
    named_files::read(path).map_err(|source| TlsError::Unreadable(path.to_owned(), source))
}

pub(crate) fn transport_config(
    identity: &Identity,
    options: &Options,
) -> Result<quiche::Config, TlsError> {
    let mut tls = SslContextBuilder::new(SslMethod::tls())?;
    identity.present(&mut tls)?;
    let mut config = quiche::Config::with_boring_ssl_ctx_builder(quiche::PROTOCOL_VERSION, tls)?;
    config.set_application_protos(&[b"h3"])?;
    if let Some(key) = &options.ticket_key {
        config.set_ticket_key(&key.under(
            &settings(options),
            &options.limits,
            options.early_data,
        )?)?;
    }
    if options.early_data {
        config.enable_early_data();
    }
    let limits = &options.limits;
    config.set_max_idle_timeout(u64::try_from(limits.idle.as_millis()).unwrap_or(u64::MAX));
    config.set_max_recv_udp_payload_size(65_527);
    config.set_max_send_udp_payload_size(options.udp_payload_bytes);
    config.discover_pmtu(options.datagrams == Datagrams::Fitted);
    config.set_initial_max_data(limits.receive_bytes);
    config.set_initial_max_stream_data_bidi_local(limits.stream_receive_bytes);
    config.set_initial_max_stream_data_bidi_remote(limits.stream_receive_bytes);
    config.set_initial_max_stream_data_uni(limits.stream_receive_bytes);
    config.set_initial_max_streams_bidi(limits.streams);
    config.set_initial_max_streams_uni(limits.unidirectional_streams);
    config.set_max_connection_window(limits.receive_bytes);
    config.set_max_stream_window(limits.stream_receive_bytes);
    // The transport keeps a path for each.
    config.set_active_connection_id_limit(limits.addresses as u64);
    // The server counts what is sent to an unproven address. The transport abandons such an address when its own count, which does not
    // include padding, leaves no room.
    config.set_max_amplification_factor(1000);
    config.set_initial_congestion_window_packets(options.initial_window_packets);
    config.set_cc_algorithm(match options.congestion_control {
        CongestionControl::Bbr2 => quiche::CongestionControlAlgorithm::Bbr2Gcongestion,
        CongestionControl::Cubic => quiche::CongestionControlAlgorithm::CUBIC,
        CongestionControl::Reno => quiche::CongestionControlAlgorithm::Reno,
    });
    config.set_custom_bbr_params(bbr_parameters());
    Ok(config)
}

/// Accepts TLS connections over TCP, for HTTP/2 and HTTP/1.1.
pub fn acceptor(identity: &Identity) -> Result<SslAcceptor, TlsError> {
    let mut tls = SslAcceptor::mozilla_intermediate_v5(SslMethod::tls())?;
    identity.present(&mut tls)?;
    // A client that offers no protocol, or only other ones, gets HTTP/1.1, or learns that it has come to the wrong place.
    tls.set_alpn_select_callback(|_, offered| {
        select_next_proto(TCP_PROTOCOLS, offered).ok_or(AlpnError::ALERT_FATAL)
    });
    Ok(tls.build())
}

/// The protocols over TCP by ALPN, in the order of preference.
const TCP_PROTOCOLS: &[u8] = b"\x02h2\x08http/1.1\x08http/1.0";

/// quiche leaves `PROBE_DOWN` after one round trip, which drains a tenth of a bandwidth-delay product of the quarter and more that probing
/// for bandwidth has put into the queue. Then the queue grows until the window is full, at two products in flight. With these parameters it
/// stays, as in the draft (draft-ietf-ccwg-bbr-03, 5.3.3.3), until the queue is drained.
fn bbr_parameters() -> quiche::BbrParams {
    quiche::BbrParams { disable_probe_down_early_exit: Some(true), ..Default::default() }
}
