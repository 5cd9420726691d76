//! What the native worker says of itself.

use std::collections::BTreeMap;
use std::time::Instant;

use weigh_codec::{Codec, OptionSpec, OptionValues, codecs};

use super::system;
use weigh_model::protocol::{CodecDescription, Description, Levels, OptionDescription, PROTOCOL};

/// The description, with the identifier 0.
pub fn describe() -> Description {
    Description {
        id: 0,
        protocol: PROTOCOL,
        runtime: "native".into(),
        version: env!("CARGO_PKG_VERSION").into(),
        facts: facts(),
        codecs: codecs::all().iter().map(|c| codec(&**c)).collect(),
        serializers: Vec::new(),
    }
}

fn codec(codec: &dyn Codec) -> CodecDescription {
    let info = codec.info();
    CodecDescription {
        name: info.name.into(),
        format: info.format.name().into(),
        binding: "native".into(),
        library: Some(codec.library()),
        takes_value: false,
        levels: info.levels.map(|l| Levels {
            min: l.min,
            max: l.max,
            default: l.default,
            representative: l.representative.to_vec(),
        }),
        options: info.options.iter().map(option).collect(),
        sets: info.sets.iter().map(ToString::to_string).collect(),
        nominal: info.nominal.to_vec(),
        missing: None,
        remedy: None,
    }
}

fn option(spec: &OptionSpec) -> OptionDescription {
    let (range, words) = match spec.values {
        OptionValues::Range(lo, hi) => (Some((lo, hi)), Vec::new()),
        OptionValues::Words(words) => (None, words.iter().map(ToString::to_string).collect()),
    };
    OptionDescription { name: spec.name.into(), range, words, about: spec.about.into() }
}

/// What changes results beside the codecs.
fn facts() -> BTreeMap<String, String> {
    let build = if cfg!(debug_assertions) { "debug" } else { "release" };
    let clock = match system::thread_cpu_ns() {
        Some(_) => "CLOCK_THREAD_CPUTIME_ID, monotonic",
        None => "monotonic",
    };
    let allocator =
        if cfg!(all(target_os = "linux", target_env = "gnu")) { "glibc malloc" } else { "system malloc" };
    [
        ("build", build.to_string()),
        ("clock", clock.into()),
        ("clock_cost_ns", cost()),
        ("allocator", allocator.into()),
    ]
    .map(|(name, fact)| (name.to_string(), fact))
    .into()
}

/// What reading the CPU clock costs, in whole nanoseconds.
fn cost() -> String {
    const READS: u32 = 1000;
    let start = Instant::now();
    for _ in 0..READS {
        std::hint::black_box(system::thread_cpu_ns());
    }
    (start.elapsed() / READS).as_nanos().to_string()
}
