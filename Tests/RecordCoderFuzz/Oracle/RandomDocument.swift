package import BodegaTesting
package import Foundation

/// Generates valid JSON in all its syntactic variants.
package struct RandomDocument {
    private var random: SeededGenerator
    private var text = ""

    /// Makes a document from a generator's numbers.
    ///
    /// - Parameter depth: The maximum nesting depth.
    package static func make(_ random: inout SeededGenerator, depth: Int = 5) -> Data {
        var document = RandomDocument(random: SeededGenerator(seed: random.next()))
        document.addSpace()
        document.addValue(depth: depth)
        document.addSpace()
        return Data(document.text.utf8)
    }

    private init(random: SeededGenerator) {
        self.random = random
    }

    private mutating func addValue(depth: Int) {
        switch Int.random(in: 0..<(depth > 0 ? 12 : 8), using: &random) {
        case 0: text += pick("null", "true", "false")
        case 1...3: addNumber()
        case 4...7: addString()
        case 8...9: addList("[", "]", depth) { $0.addValue(depth: depth - 1) }
        default:
            addList("{", "}", depth) { document in
                document.addKey()
                document.addSpace()
                document.text += ":"
                document.addSpace()
                document.addValue(depth: depth - 1)
            }
        }
    }

    private mutating func addList(
        _ start: String, _ end: String, _ depth: Int, element: (inout RandomDocument) -> Void
    ) {
        text += start
        addSpace()
        let count = Int.random(in: 0..<(depth > 2 ? 8 : 4), using: &random)
        for index in 0..<count {
            element(&self)
            addSpace()
            if index < count - 1 { text += "," }
            addSpace()
        }
        text += end
    }

    /// A few names, so that types find them and some are duplicates.
    private mutating func addKey() {
        let name = pick("a", "b", "c", "id", "name", "items", "é", "e\u{301}", "", "K", "\u{212A}", "super", "0", "12")
        if Int.random(in: 0..<8, using: &random) == 0, let first = name.utf16.first {
            text += "\"\\u" + hexadecimal(first) + name.dropFirst() + "\""
        } else {
            text += "\"\(name)\""
        }
    }

    private mutating func addNumber() {
        switch Int.random(in: 0..<6, using: &random) {
        case 0: text += "\(Int.random(in: -10...10, using: &random))"
        case 1: text += "\(Int64(bitPattern: random.next()))"
        case 2: text += "\(random.next())"
        case 3: text += "\(Double(Int.random(in: -100_000...100_000, using: &random)) / 100)"
        case 4:
            let value = Double(bitPattern: random.next())
            text += value.isFinite ? "\(value)" : "-0"
        default:
            text += pick("0", "-0", "-0.0", "1.0", "1e2", "1E+2", "10e-1", "0e0", "1e-400", "0.1", "4.9e-324")
        }
    }

    private mutating func addString() {
        text += "\""
        for _ in 0..<Int.random(in: 0..<20, using: &random) {
            switch Int.random(in: 0..<10, using: &random) {
            case 0: text += pick(#"\""#, #"\\"#, #"\/"#, #"\b"#, #"\f"#, #"\n"#, #"\r"#, #"\t"#)
            case 1: text += "\\u" + hexadecimal(UInt16.random(in: 0..<0xD800, using: &random))
            case 2: text += pick(#"\ud83d\ude00"#, #"\uD834\uDD1E"#, #"\uDBFF\uDFFF"#)
            case 3: text += pick("é", "e\u{301}", "ß", "漢字", "日本", "ا", "😀", "👩‍👩‍👧", "\u{7F}", "\u{2028}", "\u{FEFF}")
            default: text += pick("a", "the ", "0", "/", "~", " ", "quite a long piece of text, ")
            }
        }
        text += "\""
    }

    private mutating func addSpace() {
        guard Int.random(in: 0..<6, using: &random) == 0 else { return }
        for _ in 0..<Int.random(in: 1...9, using: &random) { text += pick(" ", "\n", "\t", "\r", "  ") }
    }

    private mutating func pick(_ choices: String...) -> String {
        choices[Int.random(in: 0..<choices.count, using: &random)]
    }

    private mutating func hexadecimal(_ unit: UInt16) -> String {
        let digits = String(unit, radix: 16, uppercase: Bool.random(using: &random))
        return String(repeating: "0", count: 4 - digits.count) + digits
    }
}
