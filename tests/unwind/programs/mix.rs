// mix.rs - what Rust does to stacks: dynamic dispatch, iterators, formatting,
// hash maps, and panics that are caught. It goes on until it is ended.
use std::collections::{BTreeMap, HashMap};
use std::panic;

trait Shape {
    fn area(&self, depth: u32) -> f64;
}
struct Square(f64);
struct Pair(Box<dyn Shape>, Box<dyn Shape>);
impl Shape for Square {
    fn area(&self, depth: u32) -> f64 {
        if depth > 0 { self.area(depth - 1) + 1.0 } else { self.0 * self.0 }
    }
}
impl Shape for Pair {
    fn area(&self, depth: u32) -> f64 {
        self.0.area(depth) + self.1.area(depth)
    }
}

fn grow(levels: u32) -> Box<dyn Shape> {
    if levels == 0 {
        return Box::new(Square(1.5));
    }
    Box::new(Pair(grow(levels - 1), grow(levels - 1)))
}

#[inline(never)]
fn fall(depth: u32) -> usize {
    let kept = vec![depth; 10];
    if depth == 0 {
        panic!("at the bottom");
    }
    fall(depth - 1) + kept.len()
}

fn main() {
    panic::set_hook(Box::new(|_| {}));
    let shape = grow(5);
    let mut seed: u64 = 1;
    let mut sum: f64 = 0.0;
    loop {
        let mut counts: HashMap<String, u32> = HashMap::new();
        let mut order: BTreeMap<u64, String> = BTreeMap::new();
        let mut numbers: Vec<u64> = (0..300)
            .map(|_| {
                seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1);
                (seed >> 33) % 1000
            })
            .collect();
        numbers.sort_by(|a, b| b.cmp(a));
        for number in &numbers {
            *counts.entry(format!("key{}", number)).or_insert(0) += 1;
            order.insert(*number, format!("{:?}", number));
        }
        sum += shape.area(3);
        sum += counts.values().sum::<u32>() as f64 + order.len() as f64;
        if panic::catch_unwind(|| fall(12)).is_err() {
            sum += 1.0;
        }
        println!("{}", sum);
    }
}
