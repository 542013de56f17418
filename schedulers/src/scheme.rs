//! A scheme: a name, and how it places streams.

/// A scheme, chosen by name.
#[derive(Debug, Clone)]
pub struct Scheme {
    /// As in `utmost schemes`, parameters and variant included.
    pub name: String,
}

/// No scheme of that name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SchemeError(pub String);

impl std::fmt::Display for SchemeError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "no scheme named `{}`: see `utmost schemes`", self.0)
    }
}

impl std::error::Error for SchemeError {}

/// Finds a scheme by name.
pub fn find_scheme(name: &str) -> Result<Scheme, SchemeError> {
    Ok(Scheme { name: name.to_owned() })
}
