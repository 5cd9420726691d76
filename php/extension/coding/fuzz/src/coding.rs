//! Input by its first byte: data to decode, data to encode whole or in pieces, an Accept-Encoding, the header of a response, settings, the fields
//! of a request. What is encoded comes back, what is decoded stays within its bound, and no coding is chosen that was not offered.

use weighbridge_coding::{
    Breach, Coding, Encoder, Head, Operation, Plan, Settings, choose, decode, encode, is_withheld,
    without_weakness,
};

/// The most that is decoded.
const LIMIT: usize = 1 << 16;
/// The dictionary where the coding takes one.
const WORDS: &[u8] = b"<li class=\"item\"><a href=\"/item/\">Item</a></li>";

/// Holds one input against what the modules promise.
pub fn hold(bytes: &[u8]) {
    let [kind, which, rest @ ..] = bytes else { return };
    let coding = Coding::ALL[usize::from(*which) % Coding::ALL.len()];
    let dictionary = (coding == Coding::Zstd && which & 64 != 0).then_some(WORDS);
    match kind % 7 {
        0 => decoded(coding, rest, dictionary),
        1 => whole(coding, rest, dictionary),
        2 => in_pieces(coding, rest, dictionary),
        3 => chosen(rest),
        4 => drop(Head::read(200, b"", rest.split(|byte| *byte == b'\n')).may_be_encoded()),
        5 => settings(rest),
        _ => request(rest),
    }
}

fn decoded(coding: Coding, data: &[u8], dictionary: Option<&[u8]>) {
    let mut out = Vec::new();
    let result = decode(coding, data, LIMIT, dictionary, &mut out);
    assert!(out.len() <= LIMIT && (result.is_ok() || out.is_empty()));
    if let Err(error) = result {
        assert!(!error.to_string().contains(['\n', '\u{1b}']));
    }
}

fn whole(coding: Coding, data: &[u8], dictionary: Option<&[u8]>) {
    let Some((level, data)) = data.split_first() else { return };
    let Ok(plan) = Plan::new(coding, Some(i64::from(*level) % 10), dictionary) else { return };
    let (mut sent, mut back) = (Vec::new(), Vec::new());
    encode(&plan, data, &mut sent).expect("any bytes can be encoded");
    decode(coding, &sent, data.len(), dictionary, &mut back).expect("what was encoded can be decoded");
    assert_eq!(back, data);
}

/// Pieces end at zero bytes; every other one is flushed.
fn in_pieces(coding: Coding, data: &[u8], dictionary: Option<&[u8]>) {
    let plan = Plan::new(coding, None, dictionary).expect("the coding has its dictionary");
    let mut encoder = Encoder::new(&plan).expect("there is memory");
    let (mut sent, mut back) = (Vec::new(), Vec::new());
    for (at, piece) in data.split_inclusive(|byte| *byte == 0).enumerate() {
        encoder.run(piece, Operation::Process, &mut sent).expect("any bytes can be encoded");
        if at % 2 == 0 {
            encoder.run(&[], Operation::Flush, &mut sent).expect("a stream can be flushed");
        }
    }
    encoder.run(&[], Operation::Finish, &mut sent).expect("a stream can be finished");
    decode(coding, &sent, data.len(), dictionary, &mut back).expect("what was encoded can be decoded");
    assert_eq!(back, data);
}

fn chosen(field: &[u8]) {
    let offered = [Coding::Zstd, Coding::Br, Coding::Gzip];
    if let Some(coding) = choose(Some(field), &offered) {
        assert!(offered.contains(&coding));
        let named = [coding.name(), "*", "x-gzip"];
        let field = String::from_utf8_lossy(field).to_ascii_lowercase();
        assert!(named.iter().any(|name| field.contains(name)), "{coding} was not asked for");
    }
}

fn settings(text: &[u8]) {
    let Ok(text) = std::str::from_utf8(text) else { return };
    let mut lines = text.split('\n');
    let mut next = || lines.next().unwrap_or_default();
    match Settings::read([next(), next(), next(), next()]) {
        Ok(settings) => {
            for coding in &settings.codings {
                assert!(coding.levels().contains(&settings.level(*coding)));
            }
        }
        Err(error) => assert!(!error.to_string().contains(['\n', '\u{1b}'])),
    }
}

/// Lines are the fields asked for, in turn.
fn request(text: &[u8]) {
    let text = String::from_utf8_lossy(text);
    let seen = without_weakness(&text);
    assert!(seen.len() <= text.len() && seen.matches('"').count() == text.matches('"').count());
    let field = |name: &str| text.split('\n').nth(name.len() % 7).map(str::to_owned);
    assert!(
        !is_withheld(Breach::Off, field)
            && (!is_withheld(Breach::CrossSite, field) || is_withheld(Breach::Cookies, field))
    );
}
