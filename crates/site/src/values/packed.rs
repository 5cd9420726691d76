//! igbinary and MessagePack, read whole and written as `serialize()` would. Objects of classes, references and what else a worker does not
//! read back are walked over, and have no content.

use super::LONGEST;

const DEEPEST: usize = 10_000;

/// The shortest value in MessagePack with texts that are not UTF-8.
const LONG: usize = 64;

/// A part of a value.
enum ValueNode<'a> {
    Null,
    Bool(bool),
    Integer(i64),
    Double(f64),
    Text(&'a [u8]),
    List(u64),
    /// This many keys, each with its value.
    Map(u64),
    /// An object of `stdClass` with this many properties.
    Object(u64),
    /// What a worker does not read back; with this many keys and values.
    Foreign(u64),
    /// The array that began as this one of all containers, from zero, once more.
    Again(u64),
}

/// A container that is not at its end.
struct Open {
    /// Its place among all, see [`ValueNode::Again`].
    at: usize,
    /// Parts that follow, keys too.
    left: u64,
    /// The next index, if it is a list.
    index: Option<u64>,
}

/// The content of a value in igbinary; none if the bytes are no whole one.
pub fn igbinary(bytes: &[u8]) -> Option<Option<Vec<u8>>> {
    let rest = bytes.strip_prefix(b"\0\0\0\x02").or_else(|| bytes.strip_prefix(b"\0\0\0\x01"))?;
    let mut texts = Vec::new();
    rewrite(rest, |rest| igbinary_part(rest, &mut texts))
}

/// The content of one map or array of MessagePack; none if the bytes are no whole one.
pub fn msgpack(bytes: &[u8]) -> Option<Option<Vec<u8>>> {
    // Of short random bytes, too many would be a value with texts of any bytes.
    let is_likely = |part: &ValueNode| match part {
        ValueNode::Text(text) => bytes.len() >= LONG || std::str::from_utf8(text).is_ok(),
        _ => true,
    };
    let next = |rest: &mut _| msgpack_part(rest).filter(is_likely);
    matches!(bytes.first(), Some(0x80..=0x9f | 0xdc..=0xdf)).then(|| rewrite(bytes, next))?
}

/// One value from the first byte to the last. Containers still open stand in a list, so that depth costs no stack.
fn rewrite<'a>(
    mut rest: &'a [u8],
    mut next: impl FnMut(&mut &'a [u8]) -> Option<ValueNode<'a>>,
) -> Option<Option<Vec<u8>>> {
    let (mut out, mut open, mut is_whole) = (Vec::new(), Vec::<Open>::new(), true);
    // Where containers are in what is written; of those that are not at their end, nothing.
    let mut written: Vec<std::ops::Range<usize>> = Vec::new();
    loop {
        let mut is_key = false;
        if let Some(Open { left, index, .. }) = open.last_mut() {
            is_key = index.is_none() && *left % 2 == 0;
            *left -= 1;
            if let Some(index) = index {
                out.extend_from_slice(format!("i:{index};").as_bytes());
                *index += 1;
            }
        }
        let part = next(&mut rest)?;
        match part {
            // MessagePack has the class of an object at the key null.
            ValueNode::Null if is_key => is_whole = false,
            ValueNode::Integer(_) | ValueNode::Text(_) => {}
            _ if is_key => return None,
            _ => {}
        }
        let at = written.len();
        let inside = match part {
            ValueNode::List(count) => Some(Open { at, left: count, index: Some(0) }),
            ValueNode::Map(count) | ValueNode::Object(count) | ValueNode::Foreign(count) => {
                Some(Open { at, left: count.checked_mul(2)?, index: None })
            }
            _ => None,
        };
        written.extend(inside.as_ref().map(|_| out.len()..out.len()));
        let again = match part {
            ValueNode::Again(number) => Some(written.get(number as usize).cloned().unwrap_or_default()),
            _ => None,
        };
        is_whole &= !matches!(part, ValueNode::Foreign(_)) && out.len() <= LONGEST;
        is_whole &= again.as_ref().is_none_or(|again| !again.is_empty());
        match again {
            _ if !is_whole => out.clear(),
            Some(again) => out.extend_from_within(again),
            None => part.write(&mut out),
        }
        // Each part takes a byte at least.
        if inside.as_ref().is_some_and(|inside| inside.left > rest.len() as u64) || open.len() > DEEPEST {
            return None;
        }
        open.extend(inside);
        while let Some(Open { at, .. }) = open.pop_if(|open| open.left == 0) {
            out.push(b'}');
            written[at].end = out.len();
        }
        if open.is_empty() {
            return rest.is_empty().then(|| is_whole.then_some(out));
        }
    }
}

impl ValueNode<'_> {
    /// Writes it, of a container the begin.
    fn write(&self, out: &mut Vec<u8>) {
        let text = match self {
            ValueNode::Null => "N;".into(),
            ValueNode::Bool(is) => format!("b:{};", u8::from(*is)),
            ValueNode::Integer(number) => format!("i:{number};"),
            ValueNode::Double(number) if number.is_nan() => "d:NAN;".into(),
            ValueNode::Double(number) if number.is_infinite() => {
                (if *number > 0.0 { "d:INF;" } else { "d:-INF;" }).into()
            }
            ValueNode::Double(number) => format!("d:{number:?};"),
            ValueNode::Text(text) => {
                out.extend_from_slice(format!("s:{}:\"", text.len()).as_bytes());
                out.extend_from_slice(text);
                "\";".into()
            }
            ValueNode::Object(count) => format!("O:8:\"stdClass\":{count}:{{"),
            ValueNode::List(count) | ValueNode::Map(count) => format!("a:{count}:{{"),
            ValueNode::Foreign(_) | ValueNode::Again(_) => return,
        };
        out.extend_from_slice(text.as_bytes());
    }
}

/// The first bytes.
fn take<'a>(rest: &mut &'a [u8], length: u64) -> Option<&'a [u8]> {
    let (taken, after) = rest.split_at_checked(usize::try_from(length).ok()?)?;
    *rest = after;
    Some(taken)
}

/// A number of this many bytes, the highest first.
fn number(rest: &mut &[u8], length: u64) -> Option<u64> {
    Some(take(rest, length)?.iter().fold(0, |sum, byte| sum << 8 | u64::from(*byte)))
}

/// The next part of igbinary. Texts that came before are named by their number.
fn igbinary_part<'a>(rest: &mut &'a [u8], texts: &mut Vec<&'a [u8]>) -> Option<ValueNode<'a>> {
    let kind = number(rest, 1)?;
    if let Some(text) = igbinary_text(kind, rest, texts) {
        return Some(ValueNode::Text(text));
    }
    // 1, 2, 4 or 8 bytes of a length or number, by the kind's place among its like.
    let width = |first: u64| 1 << (kind - first);
    Some(match kind {
        0x00 => ValueNode::Null,
        0x01..=0x03 => ValueNode::Again(number(rest, width(0x01))?),
        0x04 | 0x05 => ValueNode::Bool(kind == 0x05),
        0x06..=0x0b => signed(number(rest, 1 << ((kind - 0x06) / 2))?, kind % 2 == 1)?,
        0x20 | 0x21 => signed(number(rest, 8)?, kind == 0x21)?,
        0x0c => ValueNode::Double(f64::from_bits(number(rest, 8)?)),
        0x14..=0x16 => ValueNode::Map(number(rest, width(0x14))?),
        0x17..=0x1c => {
            // The class, as a text of its own or by its number.
            let named = if kind < 0x1a { kind - 0x17 + 0x11 } else { kind - 0x1a + 0x0e };
            let class = igbinary_text(named, rest, texts)?;
            match number(rest, 1)? {
                parts @ 0x14..=0x16 => {
                    let count = number(rest, 1 << (parts - 0x14))?;
                    if class == b"stdClass" { ValueNode::Object(count) } else { ValueNode::Foreign(count) }
                }
                own @ 0x1d..=0x1f => {
                    let length = number(rest, 1 << (own - 0x1d))?;
                    take(rest, length).map(|_| ValueNode::Foreign(0))?
                }
                0x27 => {
                    let case = number(rest, 1)?;
                    igbinary_text(case, rest, texts).map(|_| ValueNode::Foreign(0))?
                }
                _ => return None,
            }
        }
        0x22..=0x24 => number(rest, width(0x22)).map(|_| ValueNode::Foreign(0))?,
        // Something refers to the value that follows, and references do not nest.
        0x25 if rest.first() != Some(&0x25) => match igbinary_part(rest, texts)? {
            ValueNode::Map(count) | ValueNode::Object(count) | ValueNode::Foreign(count) => {
                ValueNode::Foreign(count)
            }
            _ => ValueNode::Foreign(0),
        },
        _ => return None,
    })
}

fn signed(number: u64, is_negative: bool) -> Option<ValueNode<'static>> {
    let sign = if is_negative { -1 } else { 1 };
    i64::try_from(i128::from(number) * sign).ok().map(ValueNode::Integer)
}

/// A text of igbinary: empty, by its number, or with its length.
fn igbinary_text<'a>(kind: u64, rest: &mut &'a [u8], texts: &mut Vec<&'a [u8]>) -> Option<&'a [u8]> {
    match kind {
        0x0d => Some(b""),
        0x0e..=0x10 => texts.get(usize::try_from(number(rest, 1 << (kind - 0x0e))?).ok()?).copied(),
        0x11..=0x13 | 0x26 => {
            let width = if kind == 0x26 { 8 } else { 1 << (kind - 0x11) };
            let length = number(rest, width)?;
            let text = take(rest, length)?;
            texts.push(text);
            Some(text)
        }
        _ => None,
    }
}

/// The next part of MessagePack.
fn msgpack_part<'a>(rest: &mut &'a [u8]) -> Option<ValueNode<'a>> {
    let kind = number(rest, 1)?;
    let width = |first: u64| 1 << (kind - first);
    Some(match kind {
        0x00..=0x7f => ValueNode::Integer(kind as i64),
        0xe0..=0xff => ValueNode::Integer(kind as i64 - 256),
        0xc0 => ValueNode::Null,
        0xc2 | 0xc3 => ValueNode::Bool(kind == 0xc3),
        0x80..=0x8f => ValueNode::Map(kind & 15),
        0x90..=0x9f => ValueNode::List(kind & 15),
        0xdc | 0xdd => ValueNode::List(number(rest, 2 * width(0xdc))?),
        0xde | 0xdf => ValueNode::Map(number(rest, 2 * width(0xde))?),
        0xca => ValueNode::Double(f64::from(f32::from_bits(number(rest, 4)? as u32))),
        0xcb => ValueNode::Double(f64::from_bits(number(rest, 8)?)),
        0xcc..=0xcf => match number(rest, width(0xcc))? {
            large if large > i64::MAX as u64 => ValueNode::Double(large as f64),
            number => ValueNode::Integer(number as i64),
        },
        0xd0..=0xd3 => {
            let width = width(0xd0);
            let unused = 64 - 8 * width;
            ValueNode::Integer((number(rest, width)? << unused) as i64 >> unused)
        }
        0xa0..=0xbf => ValueNode::Text(take(rest, kind & 31)?),
        0xc4..=0xc6 | 0xd9..=0xdb => {
            let length = number(rest, 1 << ((kind - 0xc4) % 21))?;
            ValueNode::Text(take(rest, length)?)
        }
        // Types of the application's own.
        0xc7..=0xc9 => {
            let length = number(rest, width(0xc7))?;
            take(rest, length.checked_add(1)?).map(|_| ValueNode::Foreign(0))?
        }
        0xd4..=0xd8 => take(rest, width(0xd4) + 1).map(|_| ValueNode::Foreign(0))?,
        _ => return None,
    })
}
