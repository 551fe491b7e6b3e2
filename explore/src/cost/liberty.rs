//! What mapping and timing must know of a Liberty library: its NAND2, its inverters and its flip-flop, found by what
//! they do, not by their names.

use std::path::{Path, PathBuf};

use atoms_verilated::hash;

/// A library of standard cells.
#[derive(Clone, Debug)]
pub struct CellLibrary {
    /// The file.
    pub path: PathBuf,
    /// Its name, as in `library(NAME)`.
    pub name: String,
    /// SHA-256 of the file, in hexadecimal.
    pub hash: String,
    /// The smallest NAND of two inputs: what a gate equivalent is.
    pub nand2: LibraryGate,
    /// The smallest inverter: what FO4 is measured with.
    pub inverter: LibraryGate,
    /// What drives the inputs of a module: the largest inverter that is no larger than a NAND2.
    pub driver: LibraryGate,
    /// The smallest flip-flop on the rising edge, without reset: how the ports of memories are timed.
    pub flip_flop: LibraryFlipFlop,
}

/// A gate with one output.
#[derive(Clone, Debug, PartialEq)]
pub struct LibraryGate {
    /// Name of the cell.
    pub name: String,
    /// Area in the library's unit.
    pub area: f64,
    /// Input pins.
    pub inputs: Vec<String>,
    /// Capacitance of the first input, in the library's unit.
    pub capacitance: f64,
    /// Output pin.
    pub output: String,
}

/// A flip-flop.
#[derive(Clone, Debug, PartialEq)]
pub struct LibraryFlipFlop {
    /// Name of the cell.
    pub name: String,
    /// Area in the library's unit.
    pub area: f64,
    /// Clock pin.
    pub clock: String,
    /// Data pin.
    pub data: String,
    /// Output pin that is not inverted.
    pub output: String,
}

/// Why a file is no library to map to.
#[derive(Debug, thiserror::Error)]
pub enum LibertyError {
    /// It cannot be read.
    #[error("cannot read the cell library: {0}")]
    Read(#[from] std::io::Error),
    /// It is no Liberty file: the line, what was found, and what was expected.
    #[error("`{path}`, line {1}: found {2}, expected {3}; expected a Liberty file, such as osu018_stdcells.lib", path = .0.display())]
    Syntax(PathBuf, usize, String, &'static str),
    /// No cell of this kind is in it.
    #[error("`{path}` has no {1}: expected a library of standard cells", path = .0.display())]
    Cell(PathBuf, &'static str),
}

impl CellLibrary {
    /// Reads the library in the file at `path`.
    ///
    /// # Errors
    /// [`LibertyError`].
    pub fn read(path: &Path) -> Result<Self, LibertyError> {
        let bytes = fs_err::read(path)?;
        let text = String::from_utf8_lossy(&bytes);
        let library = parse(&text).map_err(|SyntaxAt { line, found, expected }| {
            LibertyError::Syntax(path.to_path_buf(), line, found, expected)
        })?;
        let none = |what| move || LibertyError::Cell(path.to_path_buf(), what);
        let gates: Vec<(LibraryGate, u8)> = library.cells().filter_map(gate).collect();
        let smallest = |table: u8, inputs: usize| {
            let alike = gates.iter().filter(|(gate, of)| *of == table && gate.inputs.len() == inputs);
            alike.map(|(gate, _)| gate).min_by(|a, b| a.area.total_cmp(&b.area)).cloned()
        };
        let nand2 = smallest(0b0111, 2).ok_or_else(none("NAND of two inputs"))?;
        let inverter = smallest(0b01, 1).ok_or_else(none("inverter"))?;
        let driver = gates.iter().filter(|(gate, of)| *of == 0b01 && gate.inputs.len() == 1);
        let driver = driver.map(|(gate, _)| gate).filter(|gate| gate.area <= nand2.area);
        let driver =
            driver.max_by(|a, b| a.capacitance.total_cmp(&b.capacitance)).unwrap_or(&inverter).clone();
        let flip_flop = library.cells().filter_map(flip_flop).min_by(|a, b| a.area.total_cmp(&b.area));
        let flip_flop = flip_flop.ok_or_else(none("flip-flop on the rising edge without set and reset"))?;
        let name = library.argument.clone();
        Ok(Self { path: path.to_path_buf(), name, hash: hash([&bytes]), nand2, inverter, driver, flip_flop })
    }
}

/// A group of a Liberty file: `kind (argument) { ... }`. Of attributes, those in the form `name : value;` are kept.
#[derive(Debug, Default)]
struct Section {
    kind: String,
    argument: String,
    attributes: Vec<(String, String)>,
    sections: Vec<Section>,
}

impl Section {
    fn of_kind(&self, kind: &'static str) -> impl Iterator<Item = &Section> {
        self.sections.iter().filter(move |section| section.kind == kind)
    }

    fn cells(&self) -> impl Iterator<Item = &Section> {
        self.of_kind("cell")
    }

    fn get(&self, name: &str) -> Option<&str> {
        self.attributes.iter().find(|(of, _)| of == name).map(|(_, value)| value.as_str())
    }

    fn number(&self, name: &str) -> Option<f64> {
        self.get(name)?.parse().ok().filter(|number: &f64| number.is_finite())
    }

    fn pins(&self, direction: &'static str) -> impl Iterator<Item = &Section> {
        self.of_kind("pin").filter(move |pin| pin.get("direction") == Some(direction))
    }
}

/// The cell as a combinational gate of one output and at most three inputs, and its truth table: bit `i` is the output
/// where input `k` is bit `k` of `i`.
fn gate(cell: &Section) -> Option<(LibraryGate, u8)> {
    let (inputs, outputs): (Vec<_>, Vec<_>) = (cell.pins("input").collect(), cell.pins("output").collect());
    let [output] = outputs[..] else { return None };
    if inputs.is_empty() || inputs.len() > 3 || output.get("three_state").is_some() {
        return None;
    }
    let names: Vec<String> = inputs.iter().map(|pin| pin.argument.clone()).collect();
    let function = output.get("function")?;
    let mut table = 0;
    for row in 0..1 << names.len() {
        let value = |name: &str| Some(row >> names.iter().position(|input| input == name)? & 1 == 1);
        table |= u8::from(evaluate(function, &value)?) << row;
    }
    let area = cell.number("area").filter(|area| *area > 0.0)?;
    let capacitance = inputs[0].number("capacitance")?;
    let (name, output) = (cell.argument.clone(), output.argument.clone());
    Some((LibraryGate { name, area, inputs: names, capacitance, output }, table))
}

/// The cell as a flip-flop of one data pin, on the rising edge, that nothing else sets.
fn flip_flop(cell: &Section) -> Option<LibraryFlipFlop> {
    let state = cell.of_kind("ff").next()?;
    if ["clear", "preset", "clocked_on_also"].iter().any(|name| state.get(name).is_some()) {
        return None;
    }
    let inputs: Vec<&str> = cell.pins("input").map(|pin| pin.argument.as_str()).collect();
    let a_pin = |name: &str| {
        let name = name.trim().trim_matches(|c| c == '(' || c == ')').trim().to_string();
        inputs.contains(&name.as_str()).then_some(name)
    };
    let (data, clock) = (a_pin(state.get("next_state")?)?, a_pin(state.get("clocked_on")?)?);
    let variable = state.argument.split(',').next()?.trim();
    let output =
        cell.pins("output").find(|pin| pin.get("function").is_some_and(|of| of.trim() == variable))?;
    let area = cell.number("area").filter(|area| *area > 0.0)?;
    let only = inputs.len() == 2;
    only.then(|| LibraryFlipFlop {
        name: cell.argument.clone(),
        area,
        clock,
        data,
        output: output.argument.clone(),
    })
}

/// The value of a function of Liberty: `!` and `'` before `^`, that before `*`, `&` and a space, those before `+` and `|`.
fn evaluate(function: &str, value: &dyn Fn(&str) -> Option<bool>) -> Option<bool> {
    let mut parser = Function { text: function.as_bytes(), at: 0, value };
    let found = parser.sum()?;
    parser.skip();
    (parser.at == parser.text.len()).then_some(found)
}

struct Function<'f> {
    text: &'f [u8],
    at: usize,
    value: &'f dyn Fn(&str) -> Option<bool>,
}

impl Function<'_> {
    fn skip(&mut self) {
        while self.text.get(self.at).is_some_and(u8::is_ascii_whitespace) {
            self.at += 1;
        }
    }

    fn takes(&mut self, signs: &[u8]) -> bool {
        self.skip();
        let found = self.text.get(self.at).is_some_and(|sign| signs.contains(sign));
        self.at += usize::from(found);
        found
    }

    fn sum(&mut self) -> Option<bool> {
        let mut found = self.product()?;
        while self.takes(b"+|") {
            found |= self.product()?;
        }
        Some(found)
    }

    fn product(&mut self) -> Option<bool> {
        let mut found = self.difference()?;
        loop {
            let sign = self.takes(b"*&");
            self.skip();
            let another = |sign: &u8| sign.is_ascii_alphanumeric() || b"_!(".contains(sign);
            if !sign && !self.text.get(self.at).is_some_and(another) {
                return Some(found);
            }
            found &= self.difference()?;
        }
    }

    fn difference(&mut self) -> Option<bool> {
        let mut found = self.factor()?;
        while self.takes(b"^") {
            found ^= self.factor()?;
        }
        Some(found)
    }

    fn factor(&mut self) -> Option<bool> {
        let mut found = if self.takes(b"!") {
            !self.factor()?
        } else if self.takes(b"(") {
            let inside = self.sum()?;
            if !self.takes(b")") {
                return None;
            }
            inside
        } else {
            let start = self.at;
            while self.text.get(self.at).is_some_and(|c| c.is_ascii_alphanumeric() || *c == b'_') {
                self.at += 1;
            }
            match std::str::from_utf8(&self.text[start..self.at]).ok()? {
                "0" => false,
                "1" => true,
                name => (self.value)(name)?,
            }
        };
        while self.takes(b"'") {
            found = !found;
        }
        Some(found)
    }
}

struct SyntaxAt {
    line: usize,
    found: String,
    expected: &'static str,
}

/// The `library` group of a Liberty text.
fn parse(text: &str) -> Result<Section, SyntaxAt> {
    let mut reader = Reader { text, at: 0 };
    let kind = reader.word("library (NAME) {")?;
    if kind != "library" {
        return Err(reader.wrong(&kind, "library (NAME) {"));
    }
    let argument = reader.arguments()?;
    reader.sign('{', "`{`")?;
    reader.section(kind, argument, 0)
}

struct Reader<'t> {
    text: &'t str,
    at: usize,
}

impl Reader<'_> {
    fn rest(&self) -> &str {
        &self.text[self.at..]
    }

    /// Skips space, comments and continued lines.
    fn skip(&mut self) {
        loop {
            let rest = self.rest();
            let trimmed = rest.trim_start_matches(|c: char| c.is_whitespace() || c == '\\');
            let comment = |start: &str, end: &str| {
                let body = trimmed.strip_prefix(start)?;
                Some(body.find(end).map_or(0, |length| body.len() - length - end.len()))
            };
            let left = comment("/*", "*/").or_else(|| comment("//", "\n"));
            let (before, after) = (rest.len(), left.unwrap_or(trimmed.len()));
            self.at += before - after;
            if left.is_none() {
                return;
            }
        }
    }

    fn wrong(&self, found: &str, expected: &'static str) -> SyntaxAt {
        let line = 1 + self.text[..self.at.min(self.text.len())].matches('\n').count();
        let found = match found {
            "" => "the end of the file".to_string(),
            found => format!("`{}`", found.chars().take(30).collect::<String>()),
        };
        SyntaxAt { line, found, expected }
    }

    fn next(&self) -> &str {
        self.rest().split_whitespace().next().unwrap_or_default()
    }

    fn takes(&mut self, sign: char) -> bool {
        self.skip();
        let found = self.rest().starts_with(sign);
        self.at += if found { sign.len_utf8() } else { 0 };
        found
    }

    fn sign(&mut self, sign: char, expected: &'static str) -> Result<(), SyntaxAt> {
        match self.takes(sign) {
            true => Ok(()),
            false => Err(self.wrong(self.next(), expected)),
        }
    }

    fn word(&mut self, expected: &'static str) -> Result<String, SyntaxAt> {
        self.skip();
        let stops = |c: char| c.is_whitespace() || "(){}:;,\"".contains(c);
        let word = self.rest().split(stops).next().unwrap_or_default().to_string();
        if word.is_empty() {
            return Err(self.wrong(self.next(), expected));
        }
        self.at += word.len();
        Ok(word)
    }

    /// What stands between parentheses, quotes removed.
    fn arguments(&mut self) -> Result<String, SyntaxAt> {
        self.sign('(', "`(`")?;
        let Some(length) = self.rest().find(')') else { return Err(self.wrong("", "`)`")) };
        let inside = self.rest()[..length].replace('"', "").trim().to_string();
        self.at += length + 1;
        Ok(inside)
    }

    fn value(&mut self) -> Result<String, SyntaxAt> {
        let quoted = self.takes('"');
        let rest = self.rest();
        let length = if quoted { rest.find('"') } else { rest.find([';', '\n', '}']) };
        let Some(length) = length else { return Err(self.wrong("", "`;`")) };
        let value = rest[..length].trim().to_string();
        self.at += length + usize::from(quoted);
        self.takes(';');
        Ok(value)
    }

    /// The rest of a group, behind its `{`.
    fn section(&mut self, kind: String, argument: String, depth: usize) -> Result<Section, SyntaxAt> {
        let mut section = Section { kind, argument, ..Section::default() };
        if depth > 20 {
            return Err(self.wrong(self.next(), "groups at most 20 deep"));
        }
        while !self.takes('}') {
            if self.takes(';') {
                continue;
            }
            let name = self.word("an attribute, a group or `}`")?;
            if self.takes(':') {
                let value = self.value()?;
                section.attributes.push((name, value));
                continue;
            }
            let argument = self.arguments()?;
            if self.takes('{') {
                section.sections.push(self.section(name, argument, depth + 1)?);
            } else {
                self.takes(';');
            }
        }
        Ok(section)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SMALL: &str = r#"
/* comment */ library(some_cells) {
  time_unit : "1ns"; // another
  capacitive_load_unit (1,pf);
  cell (BIGINV) { area : 40; pin(A) { direction : input; capacitance : 0.04; } pin(Y) { direction : output; function : "A'"; } }
  cell (INV) { area : 16; pin(A) { direction : input; capacitance : 0.009; }
    pin(Y) { direction : output; function : "(!A)"; timing() { values ( "1, 2", \
      "3, 4"); } } }
  cell (INV2) { area : 20; pin(A) { direction : input; capacitance : 0.02; } pin(Y) { direction : output; function : "!A"; } }
  cell (ND) { area : 24; pin(A) { direction : input; capacitance : 0.01; } pin(B) { direction : input; capacitance : 0.01; }
    pin(Y) { direction : output; function : "(A B)'"; } }
  cell (DFFR) { area : 90; ff (IQ,IQN) { next_state : "D"; clocked_on : "CK"; clear : "R"; }
    pin(CK) { direction : input; } pin(D) { direction : input; } pin(R) { direction : input; }
    pin(Q) { direction : output; function : "IQ"; } }
  cell (DFF) { area : 96; ff ("IQ","IQN") { next_state : "D"; clocked_on : "CK"; }
    pin(CK) { direction : input; } pin(D) { direction : input; } pin(Q) { direction : output; function : "IQ"; } }
}
"#;

    fn read(text: &str) -> Result<CellLibrary, LibertyError> {
        let file = tempfile::NamedTempFile::new().expect("a file");
        std::fs::write(file.path(), text).expect("it can be written");
        CellLibrary::read(file.path())
    }

    #[test]
    fn cells_are_found_by_what_they_do() {
        let library = read(SMALL).expect("it is a library");
        assert_eq!(library.name, "some_cells");
        assert_eq!((library.nand2.name.as_str(), library.nand2.area), ("ND", 24.0));
        assert_eq!(library.inverter.name, "INV");
        assert_eq!(library.driver.name, "INV2", "BIGINV is larger than a NAND2");
        let flip_flop = LibraryFlipFlop {
            name: "DFF".into(),
            area: 96.0,
            clock: "CK".into(),
            data: "D".into(),
            output: "Q".into(),
        };
        assert_eq!(library.flip_flop, flip_flop, "the one without a reset");
    }

    #[test]
    fn functions_have_their_precedence() {
        let value = |name: &str| match name {
            "A" => Some(true),
            "B" => Some(false),
            _ => None,
        };
        for (function, expected) in [
            ("A + B B", Some(true)),
            ("(A + B) B", Some(false)),
            ("A ^ A * B", Some(false)),
            ("!(A&B)", Some(true)),
            ("(A B)'", Some(true)),
            ("A'", Some(false)),
            ("A + C", None),
            ("A +", None),
            ("(A", None),
        ] {
            assert_eq!(evaluate(function, &value), expected, "{function}");
        }
    }

    #[test]
    fn what_is_no_library_is_refused_with_its_line() {
        for (text, expected) in [
            ("", "line 1: found the end of the file, expected library (NAME) {"),
            ("module x;", "line 1: found `module`, expected library (NAME) {"),
            ("library(x) {\n cell (A) {\n", "line 3: found the end of the file, expected an attribute"),
            ("library(x) {\n area 5;\n}", "line 2: found `5;`, expected `(`"),
            ("library(x) { }", "has no NAND of two inputs"),
        ] {
            let error = read(text).expect_err("it is refused").to_string();
            assert!(error.contains(expected), "{text}: {error}");
        }
    }
}
