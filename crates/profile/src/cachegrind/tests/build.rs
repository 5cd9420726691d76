//! Files as Xdebug writes them, from trees of calls.

use std::collections::BTreeMap;
use std::fmt::Write as _;

pub const HEAD: &str = "version: 1\ncreator: xdebug 3.2.0 (PHP 8.2.0)\ncmd: /tmp/x.php\npart: 1\npositions: line\n\n\
                    events: Time_(10ns) Memory_(bytes)\n\n";

/// A call as it happened: function, own time in 10 ns, own memory, and what it called.
#[derive(Clone, Debug)]
pub struct Call {
    pub function: u8,
    pub own: i64,
    pub memory: i64,
    pub callees: Vec<Call>,
}

pub fn call(function: u8, own: i64, callees: Vec<Call>) -> Call {
    Call { function, own, memory: own / 2 - 3, callees }
}

impl Call {
    pub fn inclusive(&self) -> (i64, i64) {
        self.callees.iter().map(Call::inclusive).fold((self.own, self.memory), |a, b| (a.0 + b.0, a.1 + b.1))
    }

    /// Writes its block as Xdebug does: after those of what it called.
    fn write(&self, out: &mut String, named: &mut Vec<u8>) {
        self.callees.iter().for_each(|callee| callee.write(out, named));
        let _ = writeln!(out, "fl=(1) /tmp/x.php\nfn={}", name(self.function, named));
        let _ = writeln!(out, "{} {} {}", self.function, self.own, self.memory);
        for callee in &self.callees {
            let (time, memory) = callee.inclusive();
            let _ = writeln!(
                out,
                "cfl=(1)\ncfn={}\ncalls=1 0 0\n3 {time} {memory}",
                name(callee.function, named)
            );
        }
        out.push('\n');
    }

    /// Calls, own and inclusive time of each function, in nanoseconds, by the definition.
    pub fn tell(&self, stack: &mut Vec<u8>, told: &mut BTreeMap<String, (u64, i64, i64)>) {
        let entry = told.entry(format!("f{}", self.function)).or_default();
        entry.0 += 1;
        entry.1 += self.own * 10;
        if !stack.contains(&self.function) {
            entry.2 += self.inclusive().0 * 10;
        }
        stack.push(self.function);
        self.callees.iter().for_each(|callee| callee.tell(stack, told));
        stack.pop();
    }
}

/// `(id) name` the first time, then `(id)`.
fn name(function: u8, named: &mut Vec<u8>) -> String {
    if named.contains(&function) {
        return format!("({function})");
    }
    named.push(function);
    format!("({function}) f{function}")
}

pub fn file(roots: &[Call]) -> String {
    let (mut out, mut named) = (HEAD.to_owned(), Vec::new());
    roots.iter().for_each(|root| root.write(&mut out, &mut named));
    let total: i64 = roots.iter().map(|root| root.inclusive().0).sum();
    let _ = write!(out, "summary: {total} 0\n\n");
    out
}
