//! Tables as CSV (RFC 4180). Each row is written as soon as it is known.

use crate::output::printable;
use ::qlog_tools::csv_cell::inert;
use ::serve::Failure;
use std::fmt::{Display, Write as _};
use std::fs::File;
use std::io::{self, BufWriter, ErrorKind, Write};
use std::path::{Path, PathBuf};

/// A table that is being written to a file or stdout.
pub(crate) struct CsvTable {
    writer: csv::Writer<Box<dyn Write>>,
    /// `None`: stdout, where a terminal must not obey control characters.
    file: Option<PathBuf>,
    cell: String,
    rows: u64,
}

impl CsvTable {
    pub(crate) fn begin(
        file: Option<&Path>,
        header: impl IntoIterator<Item = &'static str>,
    ) -> Result<Self, Failure> {
        let output: Box<dyn Write> = match file {
            Some(path) => {
                let created = File::create(path).map_err(|error| Failure::of_file(path, error))?;
                Box::new(BufWriter::new(created))
            }
            None => Box::new(BufWriter::new(io::stdout().lock())),
        };
        let writer = csv::Writer::from_writer(output);
        let mut table =
            Self { writer, file: file.map(Path::to_owned), cell: String::new(), rows: 0 };
        let written = table.write(header).and_then(|()| table.writer.flush());
        table.rows = 0;
        table.checked(written)?;
        Ok(table)
    }

    pub(crate) fn write(
        &mut self,
        cells: impl IntoIterator<Item = impl Display>,
    ) -> io::Result<()> {
        for cell in cells {
            self.cell.clear();
            // Writing to a string cannot fail.
            let _ = write!(self.cell, "{cell}");
            let cell = inert(&self.cell);
            match self.file {
                Some(_) => self.writer.write_field(&*cell),
                None => self.writer.write_field(&*printable(&cell)),
            }
            .map_err(cause)?;
        }
        self.rows += 1;
        self.writer.write_record(None::<&[u8]>).map_err(cause)
    }

    /// Ends the table. `written` is the result of writing its rows. Prints the file and its number
    /// of rows.
    pub(crate) fn end(mut self, written: io::Result<()>) -> Result<(), Failure> {
        let written = written.and_then(|()| self.writer.flush());
        self.checked(written)?;
        match &self.file {
            Some(path) => {
                crate::output::line(&format!("wrote {}: {} rows", path.display(), self.rows))
            }
            None => Ok(()),
        }
    }

    /// A reader that wants no more does not make the command fail, as for all output.
    fn checked(&self, written: io::Result<()>) -> Result<(), Failure> {
        match (written, &self.file) {
            (Err(error), None) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
            (Err(error), Some(path)) => Err(Failure::of_file(path, error)),
            (other, _) => other.map_err(Failure::elsewhere),
        }
    }
}

fn cause(error: csv::Error) -> io::Error {
    match error.into_kind() {
        csv::ErrorKind::Io(error) => error,
        other => io::Error::other(format!("{other:?}")),
    }
}
