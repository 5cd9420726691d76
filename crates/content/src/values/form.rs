//! The forms in which a PHP value is written.

/// How a value is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Form {
    /// `serialize()`: the form that cells with a serializer start from, and the one pinned.
    Serialize,
    /// `igbinary_serialize()`.
    Igbinary,
    /// `msgpack_pack()`.
    Msgpack,
    /// `var_export()` as a PHP file.
    VarExport,
}

impl Form {
    pub const ALL: [Form; 4] = [Form::Serialize, Form::Igbinary, Form::Msgpack, Form::VarExport];

    /// Its word, the kind of content it is, and the extension of the generator's file.
    fn texts(self) -> (&'static str, &'static str, &'static str) {
        match self {
            Form::Serialize => ("serialize", "php-value", "ser"),
            Form::Igbinary => ("igbinary", "php-igbinary", "igb"),
            Form::Msgpack => ("msgpack", "php-msgpack", "msgpack"),
            Form::VarExport => ("var_export", "php-code", "php.txt"),
        }
    }

    /// Its word in ids and in the generator's requests.
    pub fn word(self) -> &'static str {
        self.texts().0
    }

    /// The extension of the generator's file.
    pub(super) fn extension(self) -> &'static str {
        self.texts().2
    }

    pub fn kind(self) -> &'static str {
        self.texts().1
    }
}
