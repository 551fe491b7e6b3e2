//! PTX instructions and builtins lowered for several architectures, as text and JSON. Architectures with
//! equal results are listed together, with the result once.

use std::collections::BTreeMap;
use std::fmt::{self, Write as _};

use atoms_isa::lower::LoweringRefusal;
use atoms_isa::ptx::{self, Module};
use atoms_isa::{Arch, Lowered, TextError};
use schemars::JsonSchema;
use serde::Serialize;

use crate::{BuiltinRefusal, Call, Dialect, Expansion, PtxTarget, Warning, expand};

/// Machine code of an instruction, and the architectures that share this code.
#[derive(Clone, Debug)]
struct LoweredAtArches {
    arches: Vec<Arch>,
    used: bool,
    registers: Vec<(String, String)>,
    result: Result<Vec<String>, LoweringRefusal>,
}

#[derive(Clone, Debug)]
pub struct LoweredInstruction {
    place: Option<(String, u32)>,
    text: String,
    answers: Vec<LoweredAtArches>,
}

/// Default architectures: one or more of each generation whose code can run.
const USUAL: &[&str] = &["sm_70", "sm_75", "sm_80", "sm_86", "sm_89", "sm_90", "sm_100", "sm_120"];

/// All architectures with different lowering.
const ALL: &[&str] =
    &["sm_50", "sm_60", "sm_70", "sm_75", "sm_80", "sm_86", "sm_89", "sm_90", "sm_100", "sm_107", "sm_120"];

/// Number of the first architecture of `ALL`.
const FIRST: u16 = 50;

/// Reason why [`lower_text`] cannot lower a text.
#[derive(Debug, thiserror::Error)]
pub enum LowerTextError {
    /// The text is neither a PTX module nor PTX instructions.
    #[error(transparent)]
    Text(Box<TextError>),
    /// An architecture is unknown, or too early.
    #[error("{0}")]
    Arch(String),
}

fn arch(name: &str) -> Result<Arch, String> {
    Arch::from_name(name).ok_or_else(|| {
        let known = ALL.join(", ");
        format!(
            "unknown architecture `{name}`; expected {known}, one of these with a letter such as sm_90a, or `all`"
        )
    })
}

/// Returns the architectures with these names; `all` names all with different lowering. Without a name: `target`,
/// or the usual ones.
///
/// # Errors
/// The text of the error: an unknown name, or a target that is too early.
pub fn arches_named(names: &[String], target: Option<Arch>) -> Result<Vec<Arch>, String> {
    match (names, target) {
        ([], Some(target)) if target.number() < FIRST => Err(format!(
            "the module is for {target}, but the first supported architecture is {}; choose a later one, such as {}",
            ALL[0], USUAL[0]
        )),
        ([], Some(target)) => Ok(vec![target]),
        ([], None) => USUAL.iter().map(|name| arch(name)).collect(),
        ([all], _) if all == "all" => ALL.iter().map(|name| arch(name)).collect(),
        (names, _) => names.iter().map(|name| arch(name)).collect(),
    }
}

/// Lowers the atomics, mbarrier operations and copies of a PTX module or of loose PTX instructions. `name` is for
/// messages, `arches` as for [`arches_named`]. `unused` lowers as if the program reads no result.
///
/// # Errors
/// [`LowerTextError`].
pub fn lower_text(
    name: &str,
    text: &str,
    arches: &[String],
    unused: bool,
) -> Result<Vec<LoweredInstruction>, LowerTextError> {
    let wrong = |error| LowerTextError::Text(Box::new(error));
    let whole = ptx::is_module(text);
    let module = if whole {
        Module::parse(name, text).map_err(wrong)?
    } else {
        let functions = vec![ptx::snippet(text).map_err(wrong)?];
        let target = arch(ALL[0]).map_err(LowerTextError::Arch)?;
        Module::new(ptx::NEWEST, target, functions)
    };
    let arches = arches_named(arches, whole.then_some(module.target)).map_err(LowerTextError::Arch)?;
    let used = match (unused, whole) {
        (true, _) => Some(false),
        // A snippet does not show later reads. Lower as if the program reads the result of every instruction.
        (false, false) => Some(true),
        (false, true) => None,
    };
    Ok(lower_at(&module, &arches, used, whole))
}

/// Lowers each instruction of `module` for each architecture in `arches`. Architectures with the same machine
/// code are listed together.
///
/// `used` is `Some(true)` to lower as if the program reads every result, `Some(false)` as if it reads none.
/// With `None` a result is used if another instruction of the module reads the register. `whole` is true for
/// a complete module of the user, false for loose instructions. With `true`, the output names the kernel and
/// the line of each instruction.
fn lower_at(
    module: &Module<'_>,
    arches: &[Arch],
    used: Option<bool>,
    whole: bool,
) -> Vec<LoweredInstruction> {
    let mut instructions: Vec<LoweredInstruction> = Vec::new();
    for function in &module.functions {
        let first = instructions.len();
        for arch in arches {
            for (at, Lowered { instruction, used, registers, result }) in
                atoms_isa::lowered(module, function, *arch, used).into_iter().enumerate()
            {
                let Some(known) = instructions.get_mut(first + at) else {
                    instructions.push(LoweredInstruction {
                        place: whole.then(|| (function.name.to_string(), instruction.line)),
                        text: instruction.text.split_whitespace().collect::<Vec<_>>().join(" "),
                        answers: vec![LoweredAtArches { arches: vec![*arch], used, registers, result }],
                    });
                    continue;
                };
                match known.answers.iter_mut().find(|a| a.result == result && a.registers == registers) {
                    Some(answer) => answer.arches.push(*arch),
                    None => {
                        known.answers.push(LoweredAtArches { arches: vec![*arch], used, registers, result })
                    }
                }
            }
        }
    }
    instructions
}

fn names(arches: &[Arch]) -> Vec<String> {
    arches.iter().map(Arch::to_string).collect()
}

impl LoweredInstruction {
    pub fn is_refused(&self) -> bool {
        self.answers.iter().any(|answer| answer.result.is_err())
    }

    fn write(&self, text: &mut fmt::Formatter<'_>) -> fmt::Result {
        let place =
            self.place.as_ref().map_or(String::new(), |(kernel, line)| format!("{kernel} line {line}: "));
        writeln!(text, "{place}{};", self.text)?;
        for LoweredAtArches { arches, registers, result, .. } in &self.answers {
            let mut head = names(arches).join(" ");
            for (at, (name, machine)) in registers.iter().enumerate() {
                write!(head, "{}{name} {machine}", if at == 0 { "   with " } else { ", " })?;
            }
            writeln!(text, "  {head}")?;
            match result {
                Ok(lines) => write_lines(text, lines)?,
                Err(LoweringRefusal { message, help }) => {
                    writeln!(text, "    refused: {message}\n    help: {help}")?
                }
            }
        }
        Ok(())
    }

    pub fn results(&self) -> impl Iterator<Item = LoweredResult<'_>> {
        self.answers.iter().map(|answer| LoweredResult {
            ptx: &self.text,
            targets: names(&answer.arches),
            used: answer.used,
            kernel: self.place.as_ref().map(|(kernel, _)| kernel.as_str()),
            line: self.place.as_ref().map(|(_, line)| *line),
            answer: match &answer.result {
                Ok(sass) => LoweredAnswer::Ok {
                    registers: answer
                        .registers
                        .iter()
                        .map(|(name, place)| (name.as_str(), place.as_str()))
                        .collect(),
                    sass,
                },
                Err(LoweringRefusal { message, help }) => LoweredAnswer::Error { error: message, help },
            },
        })
    }
}

/// Machine code of a PTX instruction for the architectures in `targets`.
#[derive(Serialize, JsonSchema)]
pub struct LoweredResult<'q> {
    ptx: &'q str,
    targets: Vec<String>,
    used: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    kernel: Option<&'q str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    line: Option<u32>,
    #[serde(flatten)]
    answer: LoweredAnswer<'q>,
}

#[derive(Serialize, JsonSchema)]
#[serde(tag = "status", rename_all = "snake_case")]
enum LoweredAnswer<'q> {
    Ok { registers: BTreeMap<&'q str, &'q str>, sass: &'q [String] },
    Error { error: &'q str, help: &'q str },
}

fn write_lines(text: &mut fmt::Formatter<'_>, lines: &[String]) -> fmt::Result {
    for line in lines {
        let indent = if line.ends_with(':') { 4 } else { 8 };
        writeln!(text, "{:indent$}{line}", "")?;
    }
    Ok(())
}

/// PTX of a builtin and its machine code, with the architectures for which both are the same.
#[derive(Clone, Debug)]
pub struct BuiltinAtArches {
    arches: Vec<Arch>,
    result: Result<(Expansion, Vec<LoweredInstruction>), BuiltinRefusal>,
}

/// Expands `call` to PTX for each architecture in `arches`, and lowers the PTX to machine code. Architectures
/// with the same PTX and machine code are listed together. `used` is `Some(true)` to lower as if the
/// program reads every result, and `Some(false)` as if it reads none.
///
/// # Errors
/// The PTX of the builtin cannot be parsed.
pub fn expand_at(
    call: &Call,
    dialect: Dialect,
    arches: &[(Arch, PtxTarget)],
    used: Option<bool>,
) -> Result<Vec<BuiltinAtArches>, TextError> {
    let mut all: Vec<BuiltinAtArches> = Vec::new();
    for (arch, target) in arches {
        let expanded = expand(call, *target, dialect);
        let result = match expanded {
            Ok(expansion) => {
                let text = expansion.module("call", *target);
                let module = Module::parse(&call.builtin.to_string(), &text)?;
                Ok((expansion, lower_at(&module, &[*arch], used, false)))
            }
            Err(refusal) => Err(refusal),
        };
        let same = |other: &&mut BuiltinAtArches| match (&other.result, &result) {
            (Ok((a, code)), Ok((b, other_code))) => a.lines == b.lines && same_code(code, other_code),
            (Err(a), Err(b)) => a == b,
            _ => false,
        };
        match all.iter_mut().find(same) {
            Some(other) => other.arches.push(*arch),
            None => all.push(BuiltinAtArches { arches: vec![*arch], result }),
        }
    }
    Ok(all)
}

fn same_code(a: &[LoweredInstruction], b: &[LoweredInstruction]) -> bool {
    let answers = |code: &[LoweredInstruction]| -> Vec<_> {
        code.iter().flat_map(|q| q.answers.iter().map(|a| a.result.clone())).collect()
    };
    answers(a) == answers(b)
}

impl BuiltinAtArches {
    pub fn is_refused(&self) -> bool {
        self.result.is_err()
    }

    fn write(&self, text: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(text, "  {}", names(&self.arches).join(" "))?;
        match &self.result {
            Ok((expansion, code)) => {
                for w in &expansion.warnings {
                    writeln!(text, "    warning #{}: {}", w.number, w.message)?;
                }
                write_lines(text, &expansion.lines)?;
                for instruction in code {
                    writeln!(text, "    {};", instruction.text)?;
                    for answer in &instruction.answers {
                        match &answer.result {
                            Ok(lines) => write_lines(text, lines)?,
                            Err(LoweringRefusal { message, help }) => {
                                writeln!(text, "    refused: {message}\n    help: {help}")?;
                            }
                        }
                    }
                }
            }
            Err(error) => writeln!(text, "    refused: {}", error.explained().replace('\n', "\n  "))?,
        }
        Ok(())
    }

    pub fn result(&self, call: &Call, dialect: Dialect) -> BuiltinResult<'_> {
        let answer = match &self.result {
            Ok((expansion, code)) => BuiltinAnswer::Ok {
                ptx: &expansion.lines,
                warnings: expansion.warnings.iter().map(WarningResult::of).collect(),
                lowered: code.iter().flat_map(LoweredInstruction::results).collect(),
            },
            Err(refusal) => {
                BuiltinAnswer::Error { number: refusal.number, error: &refusal.message, help: &refusal.help }
            }
        };
        let (builtin, dialect) = (call.builtin.to_string(), dialect.to_string());
        BuiltinResult { builtin, dialect, targets: names(&self.arches), answer }
    }
}

/// PTX of a builtin for some architectures, with its machine code.
#[derive(Serialize, JsonSchema)]
pub struct BuiltinResult<'e> {
    builtin: String,
    dialect: String,
    targets: Vec<String>,
    #[serde(flatten)]
    answer: BuiltinAnswer<'e>,
}

#[derive(Serialize, JsonSchema)]
#[serde(tag = "status", rename_all = "snake_case")]
enum BuiltinAnswer<'e> {
    Ok { ptx: &'e [String], warnings: Vec<WarningResult<'e>>, lowered: Vec<LoweredResult<'e>> },
    Error { number: Option<u16>, error: &'e str, help: &'e str },
}

#[derive(Serialize, JsonSchema)]
struct WarningResult<'e> {
    number: u16,
    message: &'e str,
}

impl<'e> WarningResult<'e> {
    fn of(warning: &'e Warning) -> Self {
        WarningResult { number: warning.number, message: &warning.message }
    }
}

impl fmt::Display for LoweredInstruction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.write(f)
    }
}

impl fmt::Display for BuiltinAtArches {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.write(f)
    }
}
