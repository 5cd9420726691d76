//! What the bodies of a page that varies have in common: parts that are the same in each of them, in order. Between
//! them are parts that vary, such as a time of day, a nonce or a banner.

use memchr::memmem::Finder;

use super::wrong::common as common_beginning;

/// The longest body that is split into parts.
pub(super) const LONGEST: usize = 4 << 20;
/// A common part that is shorter than this, between two parts that vary, counts as varying: two banners have tags in
/// common that a third one does not have.
const SHORTEST: usize = 32;
/// Bodies that have at least this share in common are compared except in the parts that vary.
pub(super) const SHARED: f64 = 0.5;
/// Pieces that may differ between two bodies; if more differ, only their starts and ends are compared.
const MOST_EDITS: usize = 2000;
/// Text without markup is cut at the first space after this many bytes, and anywhere after the second number.
const CUT: (usize, usize) = (32, 256);

/// The parts that are the same in every body.
#[derive(Clone, Debug)]
pub(super) struct Template {
    fixed: Vec<Finder<'static>>,
    /// Something that varies comes before the first part, or after the last.
    opens: bool,
    closes: bool,
}

impl Template {
    /// What bodies have in common; none: nothing, or they are too long.
    pub fn of(bodies: &[Vec<u8>]) -> Option<Template> {
        if bodies.iter().any(|body| body.len() > LONGEST) {
            return None;
        }
        let (first, others) = bodies.split_first()?;
        let pieces = pieces(first);
        let mut same = vec![(0, first.len())];
        for other in others.iter().filter(|other| *other != first) {
            same = intersection(&same, &matches(&pieces, other));
        }
        same.retain(|(from, to)| to > from);
        same.retain(|(from, to)| *from == 0 || *to == first.len() || to - from >= SHORTEST);
        let (begin, end) = (*same.first()?, *same.last()?);
        let template = Template {
            opens: !bodies.iter().all(|body| body.starts_with(&first[begin.0..begin.1])),
            closes: !bodies.iter().all(|body| body.ends_with(&first[end.0..end.1])),
            fixed: same.iter().map(|(from, to)| Finder::new(&first[*from..*to]).into_owned()).collect(),
        };
        bodies.iter().all(|body| template.fits(body).is_ok()).then_some(template)
    }

    /// Bytes that are the same in every body.
    pub fn fixed_bytes(&self) -> usize {
        self.fixed.iter().map(|part| part.needle().len()).sum()
    }

    /// Whether every body starts and ends with a part that is the same.
    pub fn is_framed(&self) -> bool {
        !self.opens && !self.closes
    }

    /// The number of parts that vary.
    pub fn varying(&self) -> usize {
        self.fixed.len() - 1 + usize::from(self.opens) + usize::from(self.closes)
    }

    /// Whether a body contains every common part, in order.
    ///
    /// # Errors
    /// The byte from which on the first missing part was searched.
    pub fn fits(&self, body: &[u8]) -> Result<(), usize> {
        let mut at = 0;
        for (index, part) in self.fixed.iter().enumerate() {
            let needle = part.needle();
            let rest = &body[at..];
            let is_last = index + 1 == self.fixed.len();
            if index == 0 && !self.opens {
                if !rest.starts_with(needle) {
                    return Err(common_beginning(rest, needle));
                }
                at = needle.len();
                if is_last && !self.closes && at != body.len() {
                    return Err(at);
                }
            } else if is_last && !self.closes {
                if !rest.ends_with(needle) {
                    return Err(at);
                }
            } else {
                at += part.find(rest).ok_or(at)? + needle.len();
            }
        }
        Ok(())
    }
}

/// A body in pieces: markup and quotes are separate from the text between them. Whole pieces vary: if only the seconds
/// of a time of day differ, the hour is not taken to be constant.
fn pieces(body: &[u8]) -> Vec<&[u8]> {
    let mut pieces = Vec::new();
    let mut begin = 0;
    for (at, byte) in body.iter().enumerate() {
        let length = at - begin;
        let is_mark = matches!(byte, b'<' | b'>' | b'"' | b'\'' | b'\n');
        if is_mark || length >= CUT.1 {
            pieces.push(&body[begin..at]);
            begin = at;
        }
        if is_mark || (*byte == b' ' && length >= CUT.0) {
            pieces.push(&body[begin..=at]);
            begin = at + 1;
        }
    }
    pieces.push(&body[begin..]);
    pieces.retain(|piece| !piece.is_empty());
    pieces
}

/// The ranges of bytes of a body in `pieces` that another body also has, in order. If the other body has more between
/// two ranges, they stay separate even if they touch.
fn matches(pieces: &[&[u8]], other: &[u8]) -> Vec<(usize, usize)> {
    let others = self::pieces(other);
    let mut starts = vec![0];
    starts.extend(pieces.iter().scan(0, |at, piece| {
        *at += piece.len();
        Some(*at)
    }));
    let mut ranges: Vec<(usize, usize)> = Vec::new();
    let mut next = None;
    for (i, j) in alike(pieces, &others) {
        match ranges.last_mut().filter(|_| next == Some((i, j))) {
            Some(range) => range.1 = starts[i + 1],
            None => ranges.push((starts[i], starts[i + 1])),
        }
        next = Some((i + 1, j + 1));
    }
    ranges
}

/// The pieces that two lists have in common, in order, as pairs of indices: a shortest edit script (Myers 1986).
fn alike(a: &[&[u8]], b: &[&[u8]]) -> Vec<(usize, usize)> {
    let head = a.iter().zip(b).take_while(|(x, y)| x == y).count();
    let (a_rest, b_rest) = (&a[head..], &b[head..]);
    let tail = a_rest.iter().rev().zip(b_rest.iter().rev()).take_while(|(x, y)| x == y).count();
    let (a_rest, b_rest) = (&a_rest[..a_rest.len() - tail], &b_rest[..b_rest.len() - tail]);
    let mut pairs: Vec<(usize, usize)> = (0..head).map(|i| (i, i)).collect();
    pairs.extend(edited(a_rest, b_rest).into_iter().map(|(i, j)| (head + i, head + j)));
    pairs.extend((0..tail).map(|i| (a.len() - tail + i, b.len() - tail + i)));
    pairs
}

/// The same for lists with different starts and ends; empty if more than [`MOST_EDITS`] pieces differ.
fn edited(a: &[&[u8]], b: &[&[u8]]) -> Vec<(usize, usize)> {
    let (n, m) = (a.len() as i64, b.len() as i64);
    let most = MOST_EDITS.min(a.len() + b.len()) as i64;
    let slot = |k: i64| (k + most + 1) as usize;
    // The furthest point on each diagonal with this number of edits, and with one fewer.
    let mut reach = vec![0i64; 2 * most as usize + 3];
    let mut before: Vec<Vec<i64>> = Vec::new();
    for edits in 0..=most {
        before.push(reach[slot(-edits)..=slot(edits)].to_vec());
        for k in (-edits..=edits).step_by(2) {
            let down = k == -edits || (k != edits && reach[slot(k - 1)] < reach[slot(k + 1)]);
            let mut x = if down { reach[slot(k + 1)] } else { reach[slot(k - 1)] + 1 };
            while x < n && x - k < m && a[x as usize] == b[(x - k) as usize] {
                x += 1;
            }
            reach[slot(k)] = x;
            if x >= n && x - k >= m {
                return traced(&before, (n, m));
            }
        }
    }
    Vec::new()
}

/// The pairs on the path that was found, from its end to its start.
fn traced(before: &[Vec<i64>], end: (i64, i64)) -> Vec<(usize, usize)> {
    let (mut x, mut y) = end;
    let mut pairs = Vec::new();
    for (edits, reach) in before.iter().enumerate().rev() {
        let edits = edits as i64;
        let k = x - y;
        let of = |k: i64| reach[(k + edits) as usize];
        let down = k == -edits || (k != edits && of(k - 1) < of(k + 1));
        let from_k = if down { k + 1 } else { k - 1 };
        let from_x = if edits == 0 { 0 } else { of(from_k) };
        let stop = if edits == 0 { 0 } else { from_x + i64::from(!down) };
        while x > stop {
            (x, y) = (x - 1, y - 1);
            pairs.push((x as usize, y as usize));
        }
        if edits > 0 {
            (x, y) = (from_x, from_x - from_k);
        }
    }
    pairs.reverse();
    pairs
}

/// The intersection of two lists of ranges; a border of either stays one.
fn intersection(a: &[(usize, usize)], b: &[(usize, usize)]) -> Vec<(usize, usize)> {
    let (mut i, mut j) = (0, 0);
    let mut both = Vec::new();
    while let (Some(x), Some(y)) = (a.get(i), b.get(j)) {
        let (from, to) = (x.0.max(y.0), x.1.min(y.1));
        if from < to {
            both.push((from, to));
        }
        if x.1 < y.1 { i += 1 } else { j += 1 }
    }
    both
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page(varying: &str, banner: &str) -> Vec<u8> {
        let rows: String = (0..40).map(|i| format!("<tr><td>Row {i}</td></tr>\n")).collect();
        format!(
            "<html><head><title>Shop</title></head>\n<body><p>It is {varying} now.</p>\n<table>\n{rows}</table>\n\
             {banner}<footer>All prices with taxes, shipping apart.</footer></body></html>\n"
        )
        .into_bytes()
    }

    #[test]
    fn a_clock_is_a_part_that_varies_as_a_whole() {
        let template = Template::of(&[page("12:34:56", ""), page("12:34:57", "")]).unwrap();
        assert_eq!((template.varying(), template.opens, template.closes), (1, false, false));
        assert_eq!(template.fits(&page("23:59:01", "")), Ok(()), "the hour may differ another time");
        let mut wrong = page("12:34:56", "");
        let at = wrong.len() - 30;
        wrong[at] ^= 1;
        assert!(template.fits(&wrong).is_err());
        assert!(template.fits(&wrong[..wrong.len() - 1]).is_err());
        assert!(template.fits(b"<html>Error establishing a database connection</html>").is_err());
    }

    #[test]
    fn parts_come_and_go() {
        let ad = |what: &str| format!("<aside class=\"{what}\"><b>{what}</b> is cheap today</aside>\n");
        let bodies = [page("1", ""), page("2", &ad("Tea")), page("3", &ad("Fresh coffee"))];
        let template = Template::of(&bodies).unwrap();
        assert_eq!(template.varying(), 2);
        for body in bodies.iter().chain([&page("4", "<img src=\"/banner.png\" alt=\"\">\n")]) {
            assert_eq!(template.fits(body), Ok(()));
        }
    }

    #[test]
    fn what_varies_may_begin_and_end_a_body() {
        let body = |a: &str, b: &str| [a.as_bytes(), &page("1", ""), b.as_bytes()].concat();
        let seen =
            [body("<!-- 1 -->", "<!-- 0.3 ms -->"), body("<!-- 22 -->", ""), body("", "<!-- 4 ms -->")];
        let template = Template::of(&seen).unwrap();
        assert!(template.closes && template.varying() >= 2);
        assert_eq!(template.fits(&body("<!-- 4711 -->", "<!-- 12 ms -->")), Ok(()));
    }

    #[test]
    fn bodies_with_nothing_in_common_have_no_template() {
        assert!(Template::of(&[b"a".to_vec(), b"b".to_vec()]).is_none_or(|t| t.fixed_bytes() == 0));
        assert!(Template::of(&[vec![b'a'; LONGEST + 1], Vec::new()]).is_none());
    }

    #[test]
    fn a_shortest_edit_script_is_found() {
        let pairs = |a: &str, b: &str| {
            let of = |text: &str| -> Vec<Vec<u8>> { text.bytes().map(|b| vec![b]).collect() };
            let (a, b) = (of(a), of(b));
            let slices = |v: &[Vec<u8>]| v.iter().map(Vec::len).collect::<Vec<_>>().len();
            let (x, y): (Vec<&[u8]>, Vec<&[u8]>) =
                (a.iter().map(Vec::as_slice).collect(), b.iter().map(Vec::as_slice).collect());
            let found = alike(&x, &y);
            assert!(found.iter().all(|(i, j)| x[*i] == y[*j]));
            assert!(found.windows(2).all(|w| w[0].0 < w[1].0 && w[0].1 < w[1].1));
            assert!(found.len() <= slices(&a).min(slices(&b)));
            found.len()
        };
        assert_eq!(pairs("abcabba", "cbabac"), 4);
        assert_eq!(pairs("", "abc"), 0);
        assert_eq!(pairs("xaby", "xcdy"), 2);
        assert_eq!(pairs("abcdef", "zabxcdyefq"), 6);
        assert_eq!(pairs("aaaa", "aa"), 2);
    }
}
