//! A server's settings of an earlier connection, which bind a client in early data (RFC 9114, 7.2.4.2).

use crate::Settings;
use crate::error::{Code, Error};

impl Settings {
    /// Checks the settings of a connection that accepted early data: they must allow everything that `self` allows.
    pub(crate) fn check_kept(&self, now: &Self) -> Result<(), Error> {
        let [limit, kept_limit] =
            [now, self].map(|it| it.max_field_section_size.unwrap_or(u64::MAX));
        let is_less = limit < kept_limit
            || (self.max_field_section_size.is_some() && now.max_field_section_size.is_none())
            || now.qpack_blocked_streams < self.qpack_blocked_streams
            || now.placeholders < self.placeholders
            || (self.enable_connect_protocol && !now.enable_connect_protocol)
            || self.extensions.iter().any(|it| !now.extensions.contains(it));
        // A dynamic table that existed in early data must not change (RFC 9204, 3.2.3).
        let other_table = self.qpack_max_table_capacity > 0
            && now.qpack_max_table_capacity != self.qpack_max_table_capacity;
        if !is_less && !other_table {
            return Ok(());
        }
        Code::Settings.fail(
            "settings allow less than those that early data was sent under (RFC 9114, 7.2.4.2)",
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Extension;

    fn with(change: fn(&mut Settings)) -> Settings {
        let mut settings = Settings {
            qpack_max_table_capacity: 100,
            qpack_blocked_streams: 5,
            enable_connect_protocol: true,
            max_field_section_size: Some(1000),
            extensions: [Extension::TreeDraft22].into(),
            placeholders: 8,
            ..Settings::default()
        };
        change(&mut settings);
        settings
    }

    #[test]
    fn settings_are_kept_whole() {
        let before = with(|_| ());
        assert_eq!(Settings::from_bytes(&before.to_bytes()).unwrap(), before);
    }

    #[test]
    fn settings_that_allow_as_much_or_more_are_compatible_9114_7_2_4_2() {
        let before = with(|_| ());
        for now in [
            with(|_| ()),
            with(|it| it.max_field_section_size = Some(2000)),
            with(|it| it.qpack_blocked_streams = 6),
            with(|it| it.placeholders = 9),
            with(|it| {
                it.extensions = [Extension::TreeDraft22, Extension::SchemeAnnouncement].into();
            }),
            with(|it| it.unknown = vec![(0x4000, 1)]),
        ] {
            assert_eq!(before.check_kept(&now), Ok(()), "{now:?}");
        }
    }

    #[test]
    fn settings_that_allow_less_or_leave_out_a_value_are_a_settings_error_9114_7_2_4_2() {
        let before = with(|_| ());
        for now in [
            with(|it| it.max_field_section_size = Some(999)),
            with(|it| it.max_field_section_size = None),
            with(|it| it.qpack_blocked_streams = 4),
            with(|it| it.qpack_max_table_capacity = 101),
            with(|it| it.qpack_max_table_capacity = 0),
            with(|it| it.placeholders = 7),
            with(|it| it.enable_connect_protocol = false),
            with(|it| it.extensions = [].into()),
        ] {
            let error = before.check_kept(&now).unwrap_err();
            assert_eq!(error.kind(), Code::Settings, "{now:?}");
        }
    }
}
