//! Signatures of one size. The size of an ECDSA signature is random, and therefore so is the size of the handshake,
//! from which congestion control takes its first measurements. With one size, a simulation repeats to the byte.

use boring::error::ErrorStack;
use boring::hash::MessageDigest;
use boring::pkey::{PKey, Private};
use boring::sign::Signer;
use boring::ssl::{PrivateKeyMethod, PrivateKeyMethodError, SslRef, SslSignatureAlgorithm};

/// Length of half of all P-256 signatures (DER).
pub(super) const SIGNATURE_BYTES: usize = 71;

/// A P-256 key that repeats signing until a signature has [`SIGNATURE_BYTES`].
pub(super) struct OneSize(pub(super) PKey<Private>);

impl OneSize {
    fn signature(&self, message: &[u8]) -> Result<Vec<u8>, ErrorStack> {
        loop {
            let mut signer = Signer::new(MessageDigest::sha256(), &self.0)?;
            let signature = signer.sign_oneshot_to_vec(message)?;
            if signature.len() == SIGNATURE_BYTES {
                return Ok(signature);
            }
        }
    }
}

impl PrivateKeyMethod for OneSize {
    fn sign(
        &self,
        _: &mut SslRef,
        message: &[u8],
        algorithm: SslSignatureAlgorithm,
        out: &mut [u8],
    ) -> Result<usize, PrivateKeyMethodError> {
        let is_known = algorithm == SslSignatureAlgorithm::ECDSA_SECP256R1_SHA256;
        let signature = Some(message).filter(|_| is_known).and_then(|it| self.signature(it).ok());
        let (signature, out) =
            signature.zip(out.get_mut(..SIGNATURE_BYTES)).ok_or(PrivateKeyMethodError::FAILURE)?;
        out.copy_from_slice(&signature);
        Ok(SIGNATURE_BYTES)
    }

    /// Only RSA keys decrypt.
    fn decrypt(
        &self,
        _: &mut SslRef,
        _: &[u8],
        _: &mut [u8],
    ) -> Result<usize, PrivateKeyMethodError> {
        Err(PrivateKeyMethodError::FAILURE)
    }

    /// A signature is complete at once.
    fn complete(&self, _: &mut SslRef, _: &mut [u8]) -> Result<usize, PrivateKeyMethodError> {
        Err(PrivateKeyMethodError::FAILURE)
    }
}
