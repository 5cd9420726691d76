//! The files that visitors of the sample site save: two archives, a document, a long text.

use std::io::{Cursor, Write};
use std::path::Path;

use anyhow::Result;
use flate2::{Compression, GzBuilder, write::ZlibEncoder};
use zip::write::SimpleFileOptions;

use super::files::Stage;
use super::write as save;

/// Lines of a page of the document, and bytes of a line.
const PAGE: (usize, usize) = (50, 90);

pub(super) fn write(stage: &mut Stage<'_>, folder: &Path) -> Result<()> {
    let scripts = [
        ("js/jquery.js", stage.bytes("corpus:jquery-3.7.1")?),
        ("css/bootstrap.css", stage.bytes("corpus:bootstrap-5.3.3.css")?),
    ];
    let novel = stage.bytes("corpus:moby-dick")?;
    save(&folder.join("sources.tar.gz"), &tar_gz(&scripts)?)?;
    save(&folder.join("airports.zip"), &zip("airports.json", &stage.bytes("corpus:airports")?)?)?;
    save(&folder.join("handbook.pdf"), &pdf(&novel)?)?;
    save(&folder.join("novel.txt"), &novel)
}

/// An archive without times or owners, so that it is always the same.
fn tar_gz(files: &[(&str, Vec<u8>)]) -> Result<Vec<u8>> {
    let mut archive = tar::Builder::new(GzBuilder::new().write(Vec::new(), Compression::new(6)));
    for (name, content) in files {
        let mut header = tar::Header::new_gnu();
        header.set_size(content.len() as u64);
        header.set_mode(0o644);
        archive.append_data(&mut header, name, content.as_slice())?;
    }
    Ok(archive.into_inner()?.finish()?)
}

fn zip(name: &str, content: &[u8]) -> Result<Vec<u8>> {
    let mut archive = zip::ZipWriter::new(Cursor::new(Vec::new()));
    // The form's first day.
    let options = SimpleFileOptions::default().last_modified_time(zip::DateTime::default());
    archive.start_file(name, options)?;
    archive.write_all(content)?;
    Ok(archive.finish()?.into_inner())
}

/// A PDF document with the text on pages, each a compressed stream as usual.
fn pdf(text: &[u8]) -> Result<Vec<u8>> {
    let plain: String = text.iter().map(|byte| plain(*byte)).collect();
    let lines: Vec<&str> = plain.lines().collect();
    let pages: Vec<Vec<u8>> = lines.chunks(PAGE.0).map(page).collect::<Result<_>>()?;
    // Objects 1 to 3 are the catalogue, the list of pages and the font; then two for each page.
    let kids: String = (0..pages.len()).map(|at| format!("{} 0 R ", 4 + 2 * at)).collect();
    let mut objects = vec![
        b"<< /Type /Catalog /Pages 2 0 R >>".to_vec(),
        format!("<< /Type /Pages /Count {} /Kids [ {kids}] >>", pages.len()).into_bytes(),
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Courier >>".to_vec(),
    ];
    for (at, stream) in pages.into_iter().enumerate() {
        let (contents, size) = (5 + 2 * at, stream.len());
        let about = "/Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Resources << /Font << /F 3 0 R >> >>";
        objects.push(format!("<< {about} /Contents {contents} 0 R >>").into_bytes());
        let head = format!("<< /Filter /FlateDecode /Length {size} >>\nstream\n").into_bytes();
        objects.push([head, stream, b"\nendstream".to_vec()].concat());
    }
    Ok(document(&objects))
}

/// The file of numbered objects, with the table of where each begins.
fn document(objects: &[Vec<u8>]) -> Vec<u8> {
    let mut out = b"%PDF-1.4\n".to_vec();
    let mut table = format!("xref\n0 {}\n0000000000 65535 f \n", objects.len() + 1);
    for (at, object) in objects.iter().enumerate() {
        table += &format!("{:010} 00000 n \n", out.len());
        out.extend(format!("{} 0 obj\n", at + 1).into_bytes());
        out.extend(object);
        out.extend(b"\nendobj\n");
    }
    let (begin, count) = (out.len(), objects.len() + 1);
    out.extend(table.into_bytes());
    out.extend(format!("trailer << /Size {count} /Root 1 0 R >>\nstartxref\n{begin}\n%%EOF\n").into_bytes());
    out
}

fn page(lines: &[&str]) -> Result<Vec<u8>> {
    let mut encoder = ZlibEncoder::new(Vec::new(), Compression::new(6));
    encoder.write_all(b"BT /F 9 Tf 40 800 Td 15 TL\n")?;
    for line in lines {
        let short: String = line.chars().take(PAGE.1).collect();
        encoder.write_all(format!("({short}) Tj T*\n").as_bytes())?;
    }
    encoder.write_all(b"ET\n")?;
    Ok(encoder.finish()?)
}

/// A character as it can stand in a text of a PDF document.
fn plain(byte: u8) -> char {
    match byte {
        b'\n' | b' '..=b'\'' | b'*'..=b'[' | b']'..=b'~' => char::from(byte),
        _ => ' ',
    }
}
