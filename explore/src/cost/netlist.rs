//! Splits the elaborated design (RTLIL text of Yosys) into modules in a canonical form. Equal modules have
//! equal text and hash, so one result serves every point with that module.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fmt::Write as _;

use atoms_verilated::hash;

use super::tools::CostError;

#[derive(Clone, Debug)]
pub(crate) struct Hierarchy {
    pub(crate) modules: Vec<ElaboratedModule>,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct ElaboratedModule {
    /// Name in the sources. If instances differ in their parameters, the name of an instance is appended.
    pub(crate) name: String,
    /// Paths of its instances from the top, separated by slashes; empty for the top.
    pub(crate) paths: Vec<String>,
    pub(crate) children: BTreeSet<String>,
    pub(crate) ports: Vec<ModulePort>,
    /// SHA-256 of its structure and of the ports of its children.
    pub(crate) hash: String,
    /// RTLIL text of the module, with its children as black boxes.
    pub(crate) text: String,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct ModulePort {
    pub(crate) name: String,
    pub(crate) is_input: bool,
    pub(crate) bits: u32,
}

#[derive(Default)]
struct RawModule<'t> {
    lines: Vec<&'t str>,
    /// Module name and instance name of each instance.
    instances: Vec<(&'t str, &'t str)>,
}

impl Hierarchy {
    pub(crate) fn parse(text: &str, top: &str) -> Result<Self, CostError> {
        let raw = read(text);
        let mut paths = Vec::new();
        add_instances(&raw, &format!("\\{top}"), String::new(), &mut paths)?;
        // Among equal modules, the first one represents all of them.
        let mut first_alike: HashMap<&str, &str> = HashMap::new();
        let mut first_with: HashMap<(&str, String), &str> = HashMap::new();
        for (name, _) in &paths {
            let body = body(&raw[name], |word| first_alike.get(word).copied());
            let first = *first_with.entry((base(name), body)).or_insert(name);
            first_alike.insert(name, first);
        }
        let settled = |first: &str| {
            let base = base(first);
            match first_with.keys().filter(|(of, _)| *of == base).count() {
                1 => base.to_string(),
                _ => format!("{base}_{}", first.rsplit(['.', '$']).next().unwrap_or_default()),
            }
        };
        let names: HashMap<&str, String> =
            first_alike.iter().map(|(name, first)| (*name, format!("\\{}", settled(first)))).collect();
        let module = |first: &str| {
            let RawModule { lines, instances } = &raw[first];
            let children: BTreeMap<&str, &str> =
                instances.iter().map(|(of, _)| (names[of].as_str(), *of)).collect();
            let mut text = "autoidx 1000000\n".to_string();
            for (child, of) in &children {
                let _ = writeln!(text, "attribute \\blackbox 1\nmodule {child}");
                raw[of].lines.iter().filter(|line| port(line).is_some()).for_each(|line| {
                    let _ = writeln!(text, "{line}");
                });
                text += "end\n";
            }
            let body = body(&raw[first], |word| names.get(word).map(String::as_str));
            let _ = writeln!(text, "module {}\n{body}", names[first]);
            let alike = paths.iter().filter(|(name, _)| first_alike[name] == first);
            let mut paths: Vec<String> = alike.flat_map(|(_, paths)| paths.clone()).collect();
            paths.sort();
            ElaboratedModule {
                name: settled(first),
                paths,
                children: children.keys().map(|name| name[1..].to_string()).collect(),
                ports: lines.iter().filter_map(|line| port(line)).collect(),
                hash: hash([&text]),
                text,
            }
        };
        let firsts = paths.iter().rev().map(|(name, _)| *name).filter(|name| first_alike[name] == *name);
        Ok(Self { modules: firsts.map(module).collect() })
    }
}

/// Returns the modules of a text by name, without attributes for source locations.
fn read(text: &str) -> HashMap<&str, RawModule<'_>> {
    let mut modules: HashMap<&str, RawModule<'_>> = HashMap::new();
    let mut open = None;
    for line in text.lines() {
        match (&line.split_whitespace().collect::<Vec<_>>()[..], &mut open) {
            (["attribute", "\\src" | "\\hdlname", ..], _) => {}
            (["module", name], _) => open = Some(modules.entry(name).or_default()),
            (words, Some(module)) => {
                module.lines.push(line);
                match words {
                    ["cell", of, name] if of.starts_with('\\') => module.instances.push((of, name)),
                    ["end"] if line == "end" => open = None,
                    _ => {}
                }
            }
            (_, None) => {}
        }
    }
    modules
}

/// Adds the paths of instance `name` and of all instances inside it. Inner instances come first.
fn add_instances<'t>(
    raw: &HashMap<&'t str, RawModule<'t>>,
    name: &str,
    path: String,
    paths: &mut Vec<(&'t str, Vec<String>)>,
) -> Result<(), CostError> {
    let found = raw.get_key_value(name);
    let (name, module) = found.ok_or_else(|| CostError::Netlist(format!("it has no module {name}")))?;
    for (of, instance) in &module.instances {
        let instance = instance.trim_start_matches('\\');
        let inside = if path.is_empty() { instance.to_string() } else { format!("{path}/{instance}") };
        add_instances(raw, of, inside, paths)?;
    }
    match paths.iter_mut().find(|(of, _)| of == name) {
        Some((_, paths)) => paths.push(path),
        None => paths.push((name, vec![path])),
    }
    Ok(())
}

/// Returns the source name of a module, such as `fifo` for `\fifo$unit.u_queue`.
fn base(name: &str) -> &str {
    name.trim_start_matches('\\').split('$').next().unwrap_or_default()
}

/// Returns the text of a module's body. Names that Yosys generated are numbered by first use; `renamed`
/// replaces other names.
fn body<'n>(module: &RawModule<'_>, renamed: impl Fn(&str) -> Option<&'n str>) -> String {
    let mut numbers: HashMap<&str, usize> = HashMap::new();
    let mut text = String::new();
    for line in &module.lines {
        for (place, word) in line.split(' ').enumerate() {
            if place > 0 {
                text.push(' ');
            }
            if let Some(name) = renamed(word) {
                text += name;
            } else if let Some(name) = made_up(word) {
                let next = numbers.len();
                text += &word.replace(name, &format!("$n{}", numbers.entry(name).or_insert(next)));
            } else {
                text += word;
            }
        }
        text += " \n ";
    }
    text
}

/// Returns the word if Yosys generated it, such as `$auto$file.cc:12:what$34`. Yosys writes a memory's name
/// in quotes where it is a parameter.
fn made_up(word: &str) -> Option<&str> {
    let quoted = word.strip_prefix('"').and_then(|word| word.strip_suffix('"'));
    let name = quoted.unwrap_or(word);
    name.strip_prefix('$')?.contains('$').then_some(name)
}

/// Parses a port declaration, such as `  wire width 32 input 3 \raddr_i`.
fn port(line: &str) -> Option<ModulePort> {
    let words: Vec<&str> = line.split_whitespace().collect();
    let is_input = words.contains(&"input");
    if *words.first()? != "wire" || !(is_input || words.contains(&"output")) {
        return None;
    }
    let width = words.iter().skip_while(|word| **word != "width").nth(1);
    let name = words.last()?.trim_start_matches('\\').to_string();
    Some(ModulePort { name, is_input, bits: width.map_or(Ok(1), |width| width.parse()).ok()? })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A unit of two equal banks and two different queues, with the generated names that slang gives.
    const DESIGN: &str = r#"# Generated by Yosys
autoidx 99
attribute \top 1
attribute \src "unit.sv:3.1-9.2"
module \unit
  wire width 2 input 1 \a
  wire output 2 \y
  attribute \src "unit.sv:4.1"
  cell \bank$unit.g[0].u_bank \g[0].u_bank
    connect \d \a [0]
  end
  cell \bank$unit.g[1].u_bank \g[1].u_bank
    connect \d \a [1]
  end
  cell \fifo$unit.u_short \u_short
    connect \d \a [1]
  end
  cell \fifo$unit.u_long \u_long
    connect \d \a [1]
  end
end
module \bank$unit.g[0].u_bank
  wire input 1 \d
  wire $auto$x.cc:1:f$12
  memory width 32 size 8 $auto$rom.cc:1:f$14
  cell $not $not$unit.sv:5$13
    parameter \MEMID "$auto$rom.cc:1:f$14"
    connect \A \d
    connect \Y $auto$x.cc:1:f$12
  end
end
module \bank$unit.g[1].u_bank
  wire input 1 \d
  wire $auto$x.cc:1:f$22
  memory width 32 size 8 $auto$rom.cc:1:f$24
  cell $not $not$unit.sv:5$23
    parameter \MEMID "$auto$rom.cc:1:f$24"
    connect \A \d
    connect \Y $auto$x.cc:1:f$22
  end
end
module \fifo$unit.u_short
  wire width 4 input 1 \d
end
module \fifo$unit.u_long
  wire width 8 input 1 \d
end
"#;

    fn names(design: &Hierarchy) -> Vec<(&str, Vec<&str>)> {
        let all = design.modules.iter();
        all.map(|m| (m.name.as_str(), m.paths.iter().map(String::as_str).collect())).collect()
    }

    #[test]
    fn equal_instances_are_one_module_and_others_are_told_apart() {
        let design = Hierarchy::parse(DESIGN, "unit").expect("it is a design");
        assert_eq!(
            names(&design),
            [
                ("unit", vec![""]),
                ("fifo_u_long", vec!["u_long"]),
                ("fifo_u_short", vec!["u_short"]),
                ("bank", vec!["g[0].u_bank", "g[1].u_bank"]),
            ]
        );
        let unit = &design.modules[0];
        assert_eq!(unit.children.iter().collect::<Vec<_>>(), ["bank", "fifo_u_long", "fifo_u_short"]);
        assert!(
            unit.text
                .contains("attribute \\blackbox 1\nmodule \\fifo_u_long\n  wire width 8 input 1 \\d\nend")
        );
        assert!(unit.text.contains("cell \\bank \\g[1].u_bank"), "{}", unit.text);
        assert!(!unit.text.contains("src"), "{}", unit.text);
        let bank = &design.modules[3].text;
        assert!(bank.contains("memory width 32 size 8 $n1") && bank.contains("\\MEMID \"$n1\""), "{bank}");
        assert_eq!(unit.ports[0], ModulePort { name: "a".into(), is_input: true, bits: 2 });
    }

    #[test]
    fn a_module_keeps_its_hash_where_numbers_and_places_change() {
        let hash = |text: &str, name: &str| {
            let design = Hierarchy::parse(text, "unit").expect("it is a design");
            design.modules.into_iter().find(|module| module.name == name).expect("it is there").hash
        };
        let moved =
            DESIGN.replace("$12", "$512").replace("$13", "$613").replace("unit.sv:3.1-9.2", "unit.sv:5.1");
        assert_eq!(hash(DESIGN, "bank"), hash(&moved, "bank"));
        assert_eq!(hash(DESIGN, "unit"), hash(&moved, "unit"));
        let deeper = DESIGN.replace("size 8", "size 16");
        assert_ne!(hash(DESIGN, "bank"), hash(&deeper, "bank"));
        assert_eq!(hash(DESIGN, "unit"), hash(&deeper, "unit"), "the ports of the bank are the same");
        let wider = DESIGN.replace("wire width 8 input 1 \\d", "wire width 9 input 1 \\d");
        assert_ne!(hash(DESIGN, "unit"), hash(&wider, "unit"), "those of a queue are not");
    }

    #[test]
    fn what_is_missing_is_named() {
        let error = Hierarchy::parse("", "unit").expect_err("there is nothing").to_string();
        assert_eq!(error, "cannot read the design that Yosys wrote: it has no module \\unit");
        let text = "module \\unit\n  cell \\gone \\u_gone\n  end\nend\n";
        let error = Hierarchy::parse(text, "unit").expect_err("a module is missing").to_string();
        assert!(error.contains("it has no module \\gone"), "{error}");
    }
}
