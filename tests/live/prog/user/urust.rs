// SPDX-License-Identifier: GPL-2.0-only
// urust ROUNDS: probes from Rust: closures, sorting, trait objects, threads, and during panics.
use std::arch::asm;
use std::panic;
use std::thread;

extern "C" {
    fn probe__open();
    fn probe();
    fn probe__push(pc: u64);
    fn probe__pop();
}

macro_rules! here {
    () => {{
        let pc: u64;
        unsafe { asm!("lea {}, [rip]", out(reg) pc) };
        Here::new(pc)
    }};
}

struct Here;

impl Here {
    #[inline(never)]
    fn new(pc: u64) -> Here {
        unsafe { probe__push(pc) };
        Here
    }
}

impl Drop for Here {
    #[inline(never)]
    fn drop(&mut self) {
        unsafe { probe__pop() };
    }
}

/// Makes a probe when it is dropped, also by a panic.
struct Guard(u64);

impl Drop for Guard {
    #[inline(never)]
    fn drop(&mut self) {
        let _here = here!();
        unsafe { probe() };
        self.0 += 1;
    }
}

#[inline(never)]
fn deep(depth: u64, n: u64, fails: bool) -> u64 {
    let _here = here!();
    let room = vec![n; depth as usize + 1];
    let _guard = Guard(n);
    if depth > 0 {
        return deep(depth - 1, n + 1, fails) + room[0];
    }
    unsafe { probe() };
    if fails {
        panic::panic_any(n);
    }
    n
}

trait Work {
    fn work(&self, n: u64) -> u64;
}

struct Plain;
struct Boxed(Box<dyn Work>);

impl Work for Plain {
    #[inline(never)]
    fn work(&self, n: u64) -> u64 {
        let _here = here!();
        deep(n % 11, n, false) + 1
    }
}

impl Work for Boxed {
    #[inline(never)]
    fn work(&self, n: u64) -> u64 {
        let _here = here!();
        self.0.work(n + 1) + 1
    }
}

#[inline(never)]
fn sorts(w: &dyn Work, n: u64) -> u64 {
    let _here = here!();
    let mut v: Vec<u64> = (0..40).map(|i| i * 7919 % 41).collect();
    let mut left = 2;
    let mut sum = 0;
    v.sort_by(|a, b| {
        let _here = here!();
        if left > 0 {
            left -= 1;
            sum += w.work(n);
        }
        a.cmp(b)
    });
    sum + v[0]
}

#[inline(never)]
fn catches(n: u64) -> u64 {
    let _here = here!();
    let r = panic::catch_unwind(|| deep(n % 9, n, true));
    unsafe { probe() };
    r.unwrap_or(0)
}

fn main() {
    let rounds = std::env::args().nth(1).and_then(|a| a.parse().ok()).unwrap_or(10);
    let mut sum = 0;

    unsafe { probe__open() };
    let _here = here!();
    panic::set_hook(Box::new(|_| {
        let _here = here!();
        unsafe { probe() };
    }));
    for n in 0..rounds {
        sum += sorts(&Boxed(Box::new(Plain)), n);
        sum += catches(n);
    }
    sum += thread::spawn(move || {
        let _here = here!();
        sorts(&Plain, 3) + catches(4)
    })
    .join()
    .unwrap();
    assert!(sum > 0);
}
