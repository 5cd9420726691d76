//! Lines of a file from its beginning or from its end, one at a time, of a bounded length.

use std::io::{self, BufRead, Read, Seek, SeekFrom};

/// The longest line in bytes, unless another bound is given; a longer one is no profile's.
pub const LONGEST: usize = 1 << 20;
/// Bytes that a line may have at most where it is skipped: what goes on for longer has no lines.
const ENDLESS: u64 = 256 << 20;
/// Bytes that are read at a time from the end.
const CHUNK: usize = 64 << 10;

pub struct Lines<R> {
    input: R,
    line: Vec<u8>,
    place: LineSpan,
    longest: usize,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LineSpan {
    /// Its first byte.
    pub start: u64,
    /// The byte after its end, newline included.
    pub end: u64,
    /// Its number, from 1.
    pub number: u64,
    /// Whether it ends with a newline.
    pub is_whole: bool,
}

/// A line without its end, unless it is longer than the bound, and where it stands.
pub type Bounded<'l> = (Option<&'l [u8]>, LineSpan);

impl<R: BufRead> Lines<R> {
    /// Of a reader that stands at its beginning.
    pub fn new(input: R) -> Lines<R> {
        Lines::within(input, LONGEST)
    }

    /// Lines of at most `longest` bytes, their ends included.
    pub fn within(input: R, longest: usize) -> Lines<R> {
        Lines { input, line: Vec::new(), place: LineSpan::default(), longest }
    }

    /// The next line without its end, and where it stands; none at the end.
    ///
    /// # Errors
    /// Reading failed, or the line is longer than the bound.
    pub fn next_line(&mut self) -> io::Result<Option<(&[u8], LineSpan)>> {
        let longest = self.longest;
        match self.next_or_skip()? {
            Some((None, place)) => {
                let bound = longest >> 10;
                Err(io::Error::other(format!("line {} is longer than {bound} KiB", place.number)))
            }
            Some((Some(line), place)) => Ok(Some((line, place))),
            None => Ok(None),
        }
    }

    /// As [`Lines::next_line`], but a line that is longer than the bound is skipped, in no more memory than the bound: it has a place and no content.
    ///
    /// # Errors
    /// Reading failed, or the line does not end within 256 MiB.
    pub fn next_or_skip(&mut self) -> io::Result<Option<Bounded<'_>>> {
        self.line.clear();
        let mut read =
            self.input.by_ref().take(self.longest as u64 + 1).read_until(b'\n', &mut self.line)? as u64;
        if read == 0 {
            return Ok(None);
        }
        let is_long = read > self.longest as u64;
        let mut is_whole = self.line.last() == Some(&b'\n');
        if is_long && !is_whole {
            let skipped;
            (skipped, is_whole) = skip(&mut self.input)?;
            read += skipped;
        }
        let (start, number) = (self.place.end, self.place.number + 1);
        self.place = LineSpan { start, end: start + read, number, is_whole };
        Ok(Some(((!is_long).then(|| trimmed(&self.line)), self.place)))
    }
}

/// Skips to the end of the line: how many bytes that were, and whether a newline was the last of them.
fn skip(input: &mut impl BufRead) -> io::Result<(u64, bool)> {
    let mut skipped = 0;
    loop {
        let held = match input.fill_buf() {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            held => held?,
        };
        if held.is_empty() {
            return Ok((skipped, false));
        }
        let end = memchr::memchr(b'\n', held);
        let count = end.map_or(held.len(), |at| at + 1);
        input.consume(count);
        skipped += count as u64;
        if skipped > ENDLESS {
            return Err(io::Error::other(format!("a line is longer than {} MiB", ENDLESS >> 20)));
        }
        if end.is_some() {
            return Ok((skipped, true));
        }
    }
}

/// Lines from the end to the beginning.
pub struct Backward<R> {
    input: R,
    /// Bytes of the file that are not read yet.
    left: u64,
    /// Bytes that are read and not handed out.
    held: Vec<u8>,
}

impl<R: Read + Seek> Backward<R> {
    /// Of the first `end` bytes.
    pub fn new(input: R, end: u64) -> Backward<R> {
        Backward { input, left: end, held: Vec::new() }
    }

    /// Hands each line, without its end, to `take`, the last one first, until that says no.
    ///
    /// # Errors
    /// Reading failed, or a line is longer than [`LONGEST`].
    pub fn each(mut self, mut take: impl FnMut(&[u8]) -> bool) -> io::Result<()> {
        while self.fill()? {
            let mut end = self.held.len();
            // What stands before the first newline may go on to the left.
            while let Some(at) = self.held[..end].iter().rposition(|b| *b == b'\n') {
                if !take(trimmed(&self.held[at + 1..end])) {
                    return Ok(());
                }
                end = at;
            }
            self.held.truncate(end);
            if end > LONGEST {
                return Err(io::Error::other("a line is too long"));
            }
        }
        take(trimmed(&self.held));
        Ok(())
    }

    /// Puts the chunk to the left before what is held; false at the beginning.
    fn fill(&mut self) -> io::Result<bool> {
        let size = self.left.min(CHUNK as u64) as usize;
        if size == 0 {
            return Ok(false);
        }
        self.left -= size as u64;
        let mut chunk = vec![0; size];
        self.input.seek(SeekFrom::Start(self.left))?;
        self.input.read_exact(&mut chunk)?;
        chunk.append(&mut self.held);
        self.held = chunk;
        Ok(true)
    }
}

fn trimmed(line: &[u8]) -> &[u8] {
    let line = line.strip_suffix(b"\n").unwrap_or(line);
    line.strip_suffix(b"\r").unwrap_or(line)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::io::Cursor;

    fn forward(bytes: &[u8]) -> Vec<Vec<u8>> {
        let mut lines = Lines::new(bytes);
        let mut found = Vec::new();
        while let Some((line, _)) = lines.next_line().unwrap() {
            found.push(line.to_vec());
        }
        found
    }

    fn backward(bytes: &[u8]) -> Vec<Vec<u8>> {
        let mut found = Vec::new();
        let all = Backward::new(Cursor::new(bytes), bytes.len() as u64);
        all.each(|line| {
            found.push(line.to_vec());
            true
        })
        .unwrap();
        found.reverse();
        found
    }

    #[test]
    fn lines_over_the_bound_are_refused() {
        let long = vec![b'x'; LONGEST + 2];
        assert!(
            Lines::new(long.as_slice()).next_line().unwrap_err().to_string().contains("line 1 is longer")
        );
        assert!(Backward::new(Cursor::new(&long), long.len() as u64).each(|_| true).is_err());
    }

    #[test]
    fn lines_over_the_bound_are_skipped_where_that_is_asked_for() {
        let mut lines = Lines::within(&b"ab\n0123456789\ncd\n01234"[..], 4);
        let mut found = Vec::new();
        while let Some((line, place)) = lines.next_or_skip().unwrap() {
            found.push((line.map(<[u8]>::to_vec), place.end, place.number, place.is_whole));
        }
        let kept = |line: &[u8]| Some(line.to_vec());
        assert_eq!(
            found,
            [
                (kept(b"ab"), 3, 1, true),
                (None, 14, 2, true),
                (kept(b"cd"), 17, 3, true),
                (None, 22, 4, false)
            ]
        );
    }

    #[test]
    fn lines_over_chunks_are_whole() {
        let text: String = (0..30_000).map(|n| format!("line {n} {}\n", "y".repeat(n % 50))).collect();
        let (ahead, back) = (forward(text.as_bytes()), backward(text.as_bytes()));
        assert_eq!(ahead.len(), 30_000);
        assert_eq!(ahead[..], back[..30_000]);
    }

    proptest! {
        #[test]
        fn both_ways_give_the_same_lines(text in "[a\r\n]{0,60}") {
            let (mut ahead, mut back) = (forward(text.as_bytes()), backward(text.as_bytes()));
            // Nothing stands after a last newline; from the end that is an empty line.
            ahead.retain(|line| !line.is_empty());
            back.retain(|line| !line.is_empty());
            prop_assert_eq!(ahead, back);
        }
    }
}
