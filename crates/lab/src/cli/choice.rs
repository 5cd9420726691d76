//! Options that take one of a few names.

use clap::builder::{PossibleValuesParser, TypedValueParser};

/// Takes the name of one of `all`.
pub fn one_of<T>(all: &'static [T], name: fn(T) -> &'static str) -> impl TypedValueParser<Value = T>
where
    T: Copy + Send + Sync + 'static,
{
    let named = move |given: String| {
        let found = all.iter().copied().find(|one| name(*one) == given);
        found.expect("the parser before took it for one of the names")
    };
    PossibleValuesParser::new(all.iter().map(|one| name(*one))).map(named)
}
