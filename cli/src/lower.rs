//! `atoms lower`: the machine code of PTX instructions and of compiler builtins.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::Read as _;
use std::path::Path;

use atoms_builtin::{Builtin, Call, CasStrength, Dialect, Expansion, PtxTarget};
use atoms_isa::lower::LoweringRefusal;
use atoms_isa::ptx::{self, Module};
use atoms_isa::{Arch, Lowered};
use schemars::JsonSchema;
use serde::Serialize;

use crate::args::LowerArgs;
use crate::output::error::{CliError, Verdict, message};
use crate::output::{outln, print_json};
use atoms_run::kernel::source::{self, Wanted};

/// Architectures asked about where none is named: those of each generation whose code can be run.
const USUAL: &[&str] = &["sm_70", "sm_75", "sm_80", "sm_86", "sm_89", "sm_90", "sm_100", "sm_120"];

/// All that lowering tells apart.
const ALL: &[&str] =
    &["sm_50", "sm_60", "sm_70", "sm_75", "sm_80", "sm_86", "sm_89", "sm_90", "sm_100", "sm_107", "sm_120"];

/// The number of the first of them.
const FIRST: u16 = 50;

/// What is said of an instruction at some architectures, all of which have the same answer.
struct Answer {
    arches: Vec<Arch>,
    used: bool,
    registers: Vec<(String, String)>,
    result: Result<Vec<String>, LoweringRefusal>,
}

/// An instruction of PTX and its answers.
struct LoweredInstruction {
    place: Option<(String, u32)>,
    text: String,
    answers: Vec<Answer>,
}

pub(crate) fn run(args: &LowerArgs) -> Result<Verdict, CliError> {
    if args.builtins {
        return list(args.json);
    }
    if let Some(name) = &args.builtin {
        return builtin(args, name);
    }
    let ptx = args.ptx.as_deref().unwrap_or("-");
    let (name, text) = source(ptx, &args.arch)?;
    let whole = ptx::is_module(&text);
    let module = module(&name, &text, whole)?;
    let arches = arches(args, whole.then_some(module.target))?;
    let used = match (args.unused, whole) {
        (true, _) => Some(false),
        // Whether the result of a loose instruction is read cannot be known.
        (false, false) => Some(true),
        (false, true) => None,
    };
    let questions = ask(&module, &arches, used, whole);
    if questions.is_empty() {
        return Err(message!(
            "{name}: nothing in it is lowered; that are atom, red, mbarrier and asynchronous copies"
        ));
    }
    if args.json {
        print_json(&questions.iter().flat_map(LoweredInstruction::results).collect::<Vec<_>>())?;
    } else {
        questions.iter().try_for_each(LoweredInstruction::print)?;
    }
    let refused = questions.iter().flat_map(|q| &q.answers).any(|a| a.result.is_err());
    Ok(if refused { Verdict::Disagree } else { Verdict::Agree })
}

/// Name and text of what is asked about; CUDA C is compiled for the first architecture named.
fn source(ptx: &str, arches: &[String]) -> Result<(String, String), CliError> {
    if ptx == "-" {
        let mut text = String::new();
        std::io::stdin().read_to_string(&mut text).map_err(CliError::reading(Path::new("standard input")))?;
        return Ok(("standard input".into(), text));
    }
    let path = Path::new(ptx);
    // An instruction has blanks in it; a file whose name has some is a file all the same.
    if path.is_file() || !ptx.contains(char::is_whitespace) {
        let first = arches.first().and_then(|name| Arch::from_name(name));
        let text = source::read(path, first, Wanted::Ptx)?;
        return Ok((ptx.into(), text));
    }
    Ok(("the instruction".into(), ptx.into()))
}

/// The module, or one around loose instructions.
fn module<'t>(name: &str, text: &'t str, whole: bool) -> Result<Module<'t>, CliError> {
    let wrong = |error| CliError::Listing(Box::new(error));
    if whole {
        return Module::parse(name, text).map_err(wrong);
    }
    let functions = vec![ptx::snippet(text).map_err(wrong)?];
    let target = arch(ALL[0])?;
    Ok(Module { version: ptx::NEWEST, target, address_size: 64, variables: Vec::new(), functions })
}

fn arch(name: &str) -> Result<Arch, CliError> {
    Arch::from_name(name).ok_or_else(|| {
        message!(
            "--arch {name}: no such architecture; there are {}, those with a letter after them, and `all`",
            ALL.join(", ")
        )
    })
}

fn arches(args: &LowerArgs, target: Option<Arch>) -> Result<Vec<Arch>, CliError> {
    match (args.arch.as_slice(), target) {
        ([], Some(target)) if target.number() < FIRST => Err(message!(
            "the module is for {target}, and lowering begins with {}; name one with --arch, such as --arch {}",
            ALL[0],
            USUAL[0]
        )),
        ([], Some(target)) => Ok(vec![target]),
        ([], None) => USUAL.iter().map(|name| arch(name)).collect(),
        ([all], _) if all == "all" => ALL.iter().map(|name| arch(name)).collect(),
        (names, _) => names.iter().map(|name| arch(name)).collect(),
    }
}

/// What each instruction becomes, architectures with the same answer together.
fn ask(module: &Module<'_>, arches: &[Arch], used: Option<bool>, whole: bool) -> Vec<LoweredInstruction> {
    let mut questions: Vec<LoweredInstruction> = Vec::new();
    for function in &module.functions {
        let first = questions.len();
        for arch in arches {
            for (at, Lowered { instruction, used, registers, result }) in
                atoms_isa::lowered(module, function, *arch, used).into_iter().enumerate()
            {
                let Some(question) = questions.get_mut(first + at) else {
                    questions.push(LoweredInstruction {
                        place: whole.then(|| (function.name.to_string(), instruction.line)),
                        text: instruction.text.split_whitespace().collect::<Vec<_>>().join(" "),
                        answers: vec![Answer { arches: vec![*arch], used, registers, result }],
                    });
                    continue;
                };
                match question.answers.iter_mut().find(|a| a.result == result && a.registers == registers) {
                    Some(answer) => answer.arches.push(*arch),
                    None => question.answers.push(Answer { arches: vec![*arch], used, registers, result }),
                }
            }
        }
    }
    questions
}

fn names(arches: &[Arch]) -> Vec<String> {
    arches.iter().map(Arch::to_string).collect()
}

impl LoweredInstruction {
    fn print(&self) -> Result<(), CliError> {
        let place =
            self.place.as_ref().map_or(String::new(), |(kernel, line)| format!("{kernel} line {line}: "));
        outln!("{place}{};", self.text)?;
        for Answer { arches, registers, result, .. } in &self.answers {
            let mut head = names(arches).join(" ");
            for (at, (name, machine)) in registers.iter().enumerate() {
                // Writing to a string cannot fail.
                let _ = write!(head, "{}{name} {machine}", if at == 0 { "   with " } else { ", " });
            }
            outln!("  {head}")?;
            match result {
                Ok(lines) => print_lines(lines)?,
                Err(LoweringRefusal { message, help }) => outln!("    refused: {message}\n    help: {help}")?,
            }
        }
        Ok(())
    }

    fn results(&self) -> impl Iterator<Item = LoweredResult<'_>> {
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

/// Machine code of a PTX instruction at some architectures.
#[derive(Serialize, JsonSchema)]
pub(crate) struct LoweredResult<'q> {
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

fn print_lines(lines: &[String]) -> Result<(), CliError> {
    for line in lines {
        let indent = if line.ends_with(':') { 4 } else { 8 };
        outln!("{:indent$}{line}", "")?;
    }
    Ok(())
}

fn list(as_json: bool) -> Result<Verdict, CliError> {
    let all: Vec<String> = Builtin::all().iter().map(Builtin::to_string).collect();
    if as_json {
        print_json(&all)?;
    } else {
        all.iter().try_for_each(|name| outln!("{name}"))?;
    }
    Ok(Verdict::Agree)
}

/// The PTX of a builtin at some architectures, and its machine code at each.
struct Expanded {
    arches: Vec<Arch>,
    result: Result<(Expansion, Vec<LoweredInstruction>), atoms_builtin::BuiltinRefusal>,
}

fn builtin(args: &LowerArgs, name: &str) -> Result<Verdict, CliError> {
    let read = |error: atoms_builtin::BuiltinRefusal| CliError::message(refusal(&error));
    let mut call = Call::new(name.parse().map_err(read)?);
    let dialect: Dialect = args.dialect.parse().map_err(read)?;
    if let Some(ty) = &args.object_type {
        call.ty = Some(ty.parse().map_err(read)?);
    }
    if let Some(order) = &args.order {
        call.order = order.parse().map_err(read)?;
    }
    if let Some(order) = &args.failure_order {
        call.failure = order.parse().map_err(read)?;
    }
    if let Some(scope) = &args.scope {
        call.scope = scope.parse().map_err(read)?;
    }
    if args.weak {
        call.strength = CasStrength::Weak;
    }
    let mut all: Vec<Expanded> = Vec::new();
    for arch in arches(args, None)? {
        let target: PtxTarget = arch.to_string().parse().map_err(read)?;
        let expanded = atoms_builtin::expand(&call, target, dialect);
        let result = match expanded {
            Ok(expansion) => {
                let text = expansion.module("call", target);
                let module = module(name, &text, true)?;
                let used = args.unused.then_some(false);
                Ok((expansion, ask(&module, &[arch], used, false)))
            }
            Err(refusal) => Err(refusal),
        };
        let same = |other: &&mut Expanded| match (&other.result, &result) {
            (Ok((a, code)), Ok((b, other_code))) => a.lines == b.lines && same_code(code, other_code),
            (Err(a), Err(b)) => a == b,
            _ => false,
        };
        match all.iter_mut().find(same) {
            Some(other) => other.arches.push(arch),
            None => all.push(Expanded { arches: vec![arch], result }),
        }
    }
    let refused = all.iter().any(|e| e.result.is_err());
    if args.json {
        print_json(&all.iter().map(|e| e.result(&call, dialect)).collect::<Vec<_>>())?;
    } else {
        outln!("{} ({dialect})", call.builtin)?;
        all.iter().try_for_each(Expanded::print)?;
    }
    Ok(if refused { Verdict::Disagree } else { Verdict::Agree })
}

fn same_code(a: &[LoweredInstruction], b: &[LoweredInstruction]) -> bool {
    let code = |questions: &[LoweredInstruction]| -> Vec<_> {
        questions.iter().flat_map(|q| q.answers.iter().map(|a| a.result.clone())).collect()
    };
    code(a) == code(b)
}

fn refusal(error: &atoms_builtin::BuiltinRefusal) -> String {
    let number = error.number.map_or(String::new(), |n| format!("#{n}: "));
    format!("{number}{}\n  help: {}", error.message, error.help)
}

impl Expanded {
    fn print(&self) -> Result<(), CliError> {
        outln!("  {}", names(&self.arches).join(" "))?;
        match &self.result {
            Ok((expansion, code)) => {
                for w in &expansion.warnings {
                    outln!("    warning #{}: {}", w.number, w.message)?;
                }
                print_lines(&expansion.lines)?;
                for question in code {
                    outln!("    {};", question.text)?;
                    for answer in &question.answers {
                        match &answer.result {
                            Ok(lines) => print_lines(lines)?,
                            Err(LoweringRefusal { message, help }) => {
                                outln!("    refused: {message}\n    help: {help}")?;
                            }
                        }
                    }
                }
            }
            Err(error) => outln!("    refused: {}", refusal(error).replace('\n', "\n  "))?,
        }
        Ok(())
    }

    fn result(&self, call: &Call, dialect: Dialect) -> BuiltinResult<'_> {
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

/// PTX of a builtin at some architectures.
#[derive(Serialize, JsonSchema)]
pub(crate) struct BuiltinResult<'e> {
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
    fn of(warning: &'e atoms_builtin::Warning) -> Self {
        WarningResult { number: warning.number, message: &warning.message }
    }
}
