//! Faults in the protocol's words, with the nearest name where a name was wrong.

use weigh_codec::{Codec, Error, OptionValues, ParamError, codecs};

use weigh_model::protocol::{Fault, FaultKind};
use weigh_model::suggest::nearest;

/// A fault without a remedy.
pub fn fault(kind: FaultKind, message: impl Into<String>) -> Fault {
    Fault { kind, message: message.into(), remedy: None }
}

pub fn from_codec(error: &Error, codec: &dyn Codec) -> Fault {
    let kind = match error {
        Error::Param(_) | Error::Train { .. } => FaultKind::Parameter,
        Error::Encode { .. } | Error::Decode { .. } | Error::TooLarge { .. } => FaultKind::Codec,
    };
    let near = match error {
        Error::Param(ParamError::UnknownOption { option, .. }) => {
            nearest(option, codec.info().options.iter().map(|o| o.name))
        }
        Error::Param(ParamError::OptionValue { option, value, .. }) => {
            let spec = codec.info().options.iter().find(|o| o.name == option);
            match spec.map(|o| o.values) {
                Some(OptionValues::Words(words)) => nearest(value, words.iter().copied()),
                _ => None,
            }
        }
        _ => None,
    };
    Fault { remedy: near.map(|n| format!("did you mean `{n}`?")), ..fault(kind, error.to_string()) }
}

/// The codec of that name.
///
/// # Errors
/// [`FaultKind::Parameter`] with the nearest name.
pub fn find_codec(name: &str) -> Result<Box<dyn Codec>, Fault> {
    codecs::find(name).ok_or_else(|| {
        let all = codecs::all();
        let near = nearest(name, all.iter().map(|c| c.info().name));
        let known = all.iter().map(|c| c.info().name).collect::<Vec<_>>().join(", ");
        let remedy = near.map_or(format!("use one of: {known}"), |n| format!("did you mean `{n}`?"));
        Fault {
            remedy: Some(remedy),
            ..fault(FaultKind::Parameter, format!("there is no native codec `{name}`"))
        }
    })
}
