import Foundation

extension TypedQueryTests {

    /// Predicates with parts that are about constants only.
    static let constants: [Make] = [
        { s in
            let x = s.pick(TypedSamples.texts); return #Predicate { x.isEmpty || $0.text.starts(with: x) }
        },
        { s in
            let x = s.pick(TypedSamples.texts); return #Predicate { x == "" || x == $0.text }
        },
        { s in
            let (all, x) = (s.chance(50), s.pick(TypedSamples.ints)); return #Predicate { all || $0.int < x }
        },
        { s in
            let (none, x) = (s.chance(50), s.pick(TypedSamples.ints)); return #Predicate { $0.int >= x && !none }
        },
        { s in
            let x: Int? = s.pick([nil, 0, 7]); return #Predicate { x == nil || $0.maybeInt == x }
        },
        { s in
            let x = s.pick(TypedSamples.texts); return #Predicate { !(x.count > 1 && $0.text.contains(x)) }
        },
        { s in
            let x = s.chance(50); return #Predicate { _ in x }
        },
    ]
}
