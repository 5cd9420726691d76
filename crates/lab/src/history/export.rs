//! The index as a Parquet file: a row per run, configuration and metric.

use std::io::Write;
use std::path::Path;
use std::sync::Arc;

use anyhow::{Context, Result, ensure};
use parquet::basic::{ConvertedType, Repetition, Type as Physical};
use parquet::data_type::{BoolType, ByteArray, ByteArrayType, DoubleType, Int32Type, Int64Type};
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use parquet::schema::types::Type;

use super::History;
use weigh_model::text::clean_path;

/// Rows of a row group: what is in memory at once.
const GROUP: usize = 100_000;

/// A column's name, its physical and converted type, and whether each row has a value.
type Column = (&'static str, Physical, ConvertedType, bool);

const TEXT: (Physical, ConvertedType) = (Physical::BYTE_ARRAY, ConvertedType::UTF8);

/// The columns, in the order in which [`put_group`] writes them.
const COLUMNS: [Column; 17] = [
    ("run", TEXT.0, TEXT.1, true),
    ("started", Physical::INT64, ConvertedType::TIMESTAMP_MILLIS, false),
    ("study", TEXT.0, TEXT.1, true),
    ("subject", TEXT.0, TEXT.1, true),
    ("weigh", TEXT.0, TEXT.1, false),
    ("processor", TEXT.0, TEXT.1, false),
    ("kernel", TEXT.0, TEXT.1, false),
    ("system", TEXT.0, TEXT.1, false),
    ("configuration", TEXT.0, TEXT.1, true),
    ("metric", TEXT.0, TEXT.1, true),
    ("unit", TEXT.0, TEXT.1, true),
    ("better", TEXT.0, TEXT.1, true),
    ("complete", Physical::BOOLEAN, ConvertedType::NONE, true),
    ("value", Physical::DOUBLE, ConvertedType::NONE, true),
    ("low", Physical::DOUBLE, ConvertedType::NONE, false),
    ("high", Physical::DOUBLE, ConvertedType::NONE, false),
    ("rounds", Physical::INT32, ConvertedType::NONE, true),
];

const ROWS: &str = "
SELECT runs.name, started, study, runs.subject, weigh.value, processor.value, kernel.value, system.value,
       configurations.name, metrics.name, unit, better, complete, measured.value, low, high, measured.rounds
FROM runs JOIN measured ON measured.run = runs.id JOIN metrics ON metrics.id = metric
     JOIN configurations ON configurations.id = configuration
     LEFT JOIN facts AS weigh ON weigh.run = runs.id AND weigh.name = 'weigh'
     LEFT JOIN facts AS processor ON processor.run = runs.id AND processor.name = 'processor'
     LEFT JOIN facts AS kernel ON kernel.run = runs.id AND kernel.name = 'kernel'
     LEFT JOIN facts AS system ON system.run = runs.id AND system.name = 'system'
ORDER BY started, runs.name, metrics.name, configurations.name";

/// A row group before it is written.
#[derive(Default)]
struct Group {
    /// Texts, by the positions of their columns.
    texts: [Vec<Option<ByteArray>>; 12],
    started: Vec<Option<i64>>,
    complete: Vec<bool>,
    numbers: [Vec<Option<f64>>; 3],
    rounds: Vec<i32>,
}

/// Writes every value that the index has into a file, whole or not at all; returns the number of rows.
///
/// # Errors
/// The index cannot be read, or the file not be written.
pub fn export(history: &History, file: &Path) -> Result<usize> {
    let doing = || format!("{}: cannot be written", clean_path(file));
    ensure!(!file.is_dir(), "{}: cannot be written: it is a folder", clean_path(file));
    let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let draft = tempfile::NamedTempFile::new_in(folder).with_context(doing)?;
    let properties = WriterProperties::builder().set_created_by("weigh".into()).build();
    let schema = Arc::new(schema()?);
    let mut writer =
        SerializedFileWriter::new(draft.as_file(), schema, Arc::new(properties)).with_context(doing)?;
    let mut asked = history.db.prepare(ROWS)?;
    let mut rows = asked.query([])?;
    let (mut group, mut count) = (Group::default(), 0);
    while let Some(row) = rows.next()? {
        group.push(row)?;
        count += 1;
        if count % GROUP == 0 {
            put_group(&mut writer, std::mem::take(&mut group)).with_context(doing)?;
        }
    }
    if !group.rounds.is_empty() {
        put_group(&mut writer, group).with_context(doing)?;
    }
    writer.close().with_context(doing)?;
    draft.persist(file).with_context(doing)?;
    Ok(count)
}

fn schema() -> Result<Type> {
    let column = |(name, physical, converted, is_required): Column| {
        let repetition = if is_required { Repetition::REQUIRED } else { Repetition::OPTIONAL };
        let column = Type::primitive_type_builder(name, physical);
        Ok(Arc::new(column.with_converted_type(converted).with_repetition(repetition).build()?))
    };
    let columns = COLUMNS.into_iter().map(column).collect::<Result<Vec<_>>>()?;
    Ok(Type::group_type_builder("weigh").with_fields(columns).build()?)
}

impl Group {
    fn push(&mut self, row: &rusqlite::Row) -> Result<()> {
        let started: String = row.get(1)?;
        self.started.push(started.parse().ok().map(|at: jiff::Timestamp| at.as_millisecond()));
        let columns = (0..COLUMNS.len()).filter(|at| COLUMNS[*at].1 == Physical::BYTE_ARRAY);
        for (texts, at) in self.texts.iter_mut().zip(columns) {
            let text: Option<String> = row.get(at)?;
            // A run with values has a study and a subject.
            let text = text.or_else(|| COLUMNS[at].3.then(String::new));
            texts.push(text.map(|text| ByteArray::from(text.into_bytes())));
        }
        self.complete.push(row.get(12)?);
        for (numbers, at) in self.numbers.iter_mut().zip(13..) {
            numbers.push(row.get(at)?);
        }
        self.rounds.push(row.get(16)?);
        Ok(())
    }
}

fn put_group<W: Write + Send>(writer: &mut SerializedFileWriter<W>, group: Group) -> Result<()> {
    let mut into = writer.next_row_group()?;
    let mut texts = group.texts.into_iter();
    let mut numbers = group.numbers.into_iter();
    for (_, physical, _, is_required) in COLUMNS {
        match physical {
            Physical::BYTE_ARRAY => {
                put::<ByteArrayType, _>(&mut into, texts.next().unwrap_or_default(), is_required)?;
            }
            Physical::INT64 => put::<Int64Type, _>(&mut into, group.started.clone(), is_required)?,
            Physical::DOUBLE => {
                put::<DoubleType, _>(&mut into, numbers.next().unwrap_or_default(), is_required)?;
            }
            Physical::BOOLEAN => put::<BoolType, _>(&mut into, some(&group.complete), is_required)?,
            _ => put::<Int32Type, _>(&mut into, some(&group.rounds), is_required)?,
        }
    }
    into.close()?;
    Ok(())
}

fn some<T: Copy>(values: &[T]) -> Vec<Option<T>> {
    values.iter().copied().map(Some).collect()
}

/// Writes the next column; a value that is not there is left out, and told by its level.
fn put<D: parquet::data_type::DataType, W: Write + Send>(
    into: &mut SerializedRowGroupWriter<W>,
    values: Vec<Option<D::T>>,
    is_required: bool,
) -> Result<()> {
    let mut column = into.next_column()?.context("a column more than the file has")?;
    let levels: Vec<i16> = values.iter().map(|value| i16::from(value.is_some())).collect();
    let there: Vec<D::T> = values.into_iter().flatten().collect();
    column.typed::<D>().write_batch(&there, (!is_required).then_some(&levels[..]), None)?;
    Ok(column.close()?)
}
