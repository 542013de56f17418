//! Enums whose values have names in files, logs, flags and tables.

/// Declares an enum with the name of each value, and with `ALL` (all values in order), `NAMES`, `name` and `named` (the value
/// with a name).
#[macro_export]
macro_rules! named {
    ($(#[$about:meta])* $sight:vis enum $Enum:ident {
        $($(#[$note:meta])* $Value:ident = $name:literal,)+
    }) => {
        $(#[$about])*
        $sight enum $Enum {
            $($(#[$note])* $Value,)+
        }

        #[allow(dead_code, reason = "not every enum of a crate's own needs all of them")]
        impl $Enum {
            /// All of them, in order.
            $sight const ALL: [Self; Self::NAMES.len()] = [$(Self::$Value),+];

            /// The names of [`Self::ALL`], in its order.
            $sight const NAMES: [&'static str; [$($name),+].len()] = [$($name),+];

            /// Its name in files, logs and tables.
            $sight const fn name(self) -> &'static str {
                match self {
                    $(Self::$Value => $name,)+
                }
            }

            /// The value with this name.
            $sight fn named(name: &str) -> Option<Self> {
                Self::ALL.into_iter().find(|it| it.name() == name)
            }
        }
    };
}
