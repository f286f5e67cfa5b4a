import BodegaTesting
import Foundation
import RecordCoder
import Testing

@Suite struct TextEncodingTests {

    @Test("All ASCII characters and some others survive, at each position in strings of each length")
    func characters() throws {
        var characters = (0..<128).map { Character(Unicode.Scalar(UInt8($0))) }
        characters += ["\u{80}", "\u{FF}", "é", "\u{7FF}", "\u{2028}", "日", "\u{FFFF}", "🎉", "👩‍👩‍👧", "e\u{301}"]
        for character in characters {
            let texts = (0...18).flatMap { length in
                (0...length).map { place in
                    String(repeating: "x", count: place) + "\(character)"
                        + String(repeating: "y", count: length - place)
                }
            }
            let json = try RecordEncoder().encode(texts)
            let decoded = try JSONDecoder().decode([String].self, from: json)
            #expect(decoded.map { Array($0.utf8) } == texts.map { Array($0.utf8) })
        }
    }

    @Test("Strings of any length that consist of escapes survive", arguments: [0, 1, 7, 8, 9, 1000, 100_000])
    func escapes(count: Int) throws {
        for text in ["\"", "\\", "\n", "\u{1}", "\u{1F}\u{0}", "a\"", "1234567\t"] {
            try expectRoundTrip(String(repeating: text, count: count))
        }
    }

    @Test("Only characters that must be escaped are escaped")
    func spelling() throws {
        let json = try RecordEncoder().encode("a/é\u{7F}\u{2028}\"\\\u{8}\u{c}\n\r\t\u{0}\u{1B}\u{1F}")
        #expect(String(decoding: json, as: UTF8.self) == #""a/é\#u{7F}\#u{2028}\"\\\b\f\n\r\t\u0000\u001b\u001f""#)
    }

    @Test("Random texts survive", arguments: 1...10 as ClosedRange<UInt64>)
    func random(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let alphabet: [Character] = ["a", "b", "é", "日", "🎉", "\"", "\\", "\n", "\u{1}", " ", "/"]
        let texts = (0..<300).map { _ in
            String(
                (0..<Int.random(in: 0...60, using: &random)).map { _ in alphabet.randomElement(using: &random) ?? "a" })
        }
        try expectRoundTrip(texts)
        try expectRoundTrip(Dictionary(texts.map { ($0, $0) }) { first, _ in first })
    }

    @Test("Substrings and strings made of them survive")
    func substrings() throws {
        let text = String(repeating: "hå\"llo ", count: 10)
        try expectRoundTrip(String(text.dropFirst(3).dropLast(2)))
    }

    @Test("Keys are escaped like strings")
    func keys() {
        for key in ["", "\"", "\\", "\n", "a/b", "é", "e\u{301}", "日本語日本語日本語", String(repeating: "k\"", count: 100)] {
            expectSameEncoding([key: 1])
            expectSameEncoding(
                Custom { encoder in
                    var container = encoder.container(keyedBy: AnyKey.self)
                    try container.encode(1, forKey: AnyKey(stringValue: key))
                    try container.encode(2, forKey: "another")
                }
            )
        }
    }
}
