//! The engines. To add one, add a file here and an entry to [`ENGINES`].

mod browser;
mod ideal;
mod stack;
mod wire;

use crate::study::plan::engine::Engine;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// The engine without a transport.
pub const IDEAL: &dyn Engine = &ideal::Ideal;
/// The real cores in a simulated world.
pub const STACK: &dyn Engine = &stack::Stack;
/// The real programs.
pub const WIRE: &dyn Engine = &wire::Wire;
/// A real browser.
pub const BROWSER: &dyn Engine = &browser::Browser;

/// All of them.
pub const ENGINES: [&dyn Engine; 4] = [IDEAL, STACK, WIRE, BROWSER];

impl Default for &'static dyn Engine {
    fn default() -> Self {
        IDEAL
    }
}

impl Serialize for dyn Engine {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

impl<'de> Deserialize<'de> for &'static dyn Engine {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let name = String::deserialize(deserializer)?;
        let engine = ENGINES.into_iter().find(|it| it.name() == name);
        engine
            .ok_or_else(|| D::Error::unknown_variant(&name, &["ideal", "stack", "wire", "browser"]))
    }
}
