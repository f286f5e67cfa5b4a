import Foundation
import Testing

@testable import EngineProfiler

#if canImport(FoundationXML)
import FoundationXML
#endif

@Suite struct ReportTests {

    /// The contents of a report, according to an XML parser.
    private final class Outline: NSObject, XMLParserDelegate {
        var elements: [String: Int] = [:]
        var attributes: [(element: String, name: String, value: String)] = []
        var text = ""
        var ids: [String] = []

        func parser(
            _ parser: XMLParser, didStartElement element: String, namespaceURI: String?, qualifiedName: String?,
            attributes found: [String: String]
        ) {
            elements[element, default: 0] += 1
            attributes += found.map { (element, $0.key, $0.value) }
            if let id = found["id"] { ids.append(id) }
        }

        func parser(_ parser: XMLParser, foundCharacters string: String) { text += string }
    }

    private func outline(_ html: String) throws -> Outline {
        let outline = Outline()
        let parser = XMLParser(data: Data(html.utf8))
        parser.delegate = outline
        let isWellFormed = parser.parse()
        let error = parser.parserError.map { "\($0)" } ?? ""
        try #require(isWellFormed, "line \(parser.lineNumber), column \(parser.columnNumber): \(error)")
        return outline
    }

    private let profile = Sample.profile([
        Sample.engine(
            "fast",
            [
                1000: [Sample.steady(around: 500), Sample.steady("read-all", around: 90_000)],
                10_000: [Sample.steady(around: 600), Sample.steady("read-all", around: 900_000)],
                100_000: [Sample.steady(around: 700), Sample.steady("read-all", around: 9_000_000)],
            ]),
        Sample.engine(
            "slow",
            [1000: [Sample.steady(around: 5000)], 10_000: [Sample.steady("later-operation", around: 6000)]]),
    ])

    @Test func `A report is well-formed and shows every engine and operation`() throws {
        let outline = try outline(Report(profiles: [profile]).html)
        for word in ["fast", "slow", "read", "read-all", "later-operation"] {
            #expect(outline.text.contains(word), "\(word) is missing")
        }
        #expect(outline.elements["svg", default: 0] >= 6)
        // The determination of the fit is in a tooltip.
        #expect(outline.attributes.contains { $0 == (element: "span", name: "title", value: "R² = 1.00") })
    }

    @Test func `A report has no scripts and no external resources`() throws {
        let html = Report(profiles: [profile]).html
        let outline = try outline(html)
        for element in ["script", "link", "img", "iframe", "object", "embed", "base", "form"] {
            #expect(outline.elements[element] == nil, "there is a \(element)")
        }
        for (element, name, value) in outline.attributes {
            #expect(!name.hasPrefix("on"), "\(element) has \(name)")
            #expect(name != "src" && name != "srcset" && name != "style")
            if name == "href" { #expect(value.hasPrefix("#") && outline.ids.contains(String(value.dropFirst()))) }
        }
        #expect(!html.contains("url(") && !html.contains("@import"))
        // The namespace of XHTML is the only URL.
        #expect(html.components(separatedBy: "://").count == 2)
    }

    @Test(arguments: ["</title><script>alert(1)</script>", "\"'&<>", "a\u{0}\u{1B}b\u{FFFF}", "日本 🚀 e\u{301}"])
    func `Names are escaped`(name: String) throws {
        var engine = profile.engines[0]
        engine.name = name
        engine.address = name
        engine.sizes[0].measurements[0].operation = name
        var hostile = Sample.profile([engine])
        hostile.environment.processor = name
        hostile.environment.system = name
        let outline = try outline(Report(profiles: [hostile]).html)
        #expect(outline.elements["script"] == nil)
        let shown = String(
            String.UnicodeScalarView(
                name.unicodeScalars.map { $0.value < 0x20 || $0.value == 0xFFFF ? "\u{FFFD}" : $0 }))
        #expect(outline.text.contains(shown))
    }

    @Test func `A report without results and one with a single call of zero time are well-formed`() throws {
        _ = try outline(Report(profiles: []).html)
        _ = try outline(Report(profiles: [Sample.profile([Sample.engine("a", [:])])]).html)
        let instant = Sample.engine("a", [1: [Sample.measurement(slices: [[0]])]])
        _ = try outline(Report(profiles: [Sample.profile([instant])]).html)
    }

    @Test func `A report can have more engines than colors`() throws {
        let engines = (0..<20).map { Sample.engine("e\($0)", [10: [Sample.steady(around: 500)]]) }
        let outline = try outline(Report(profiles: [Sample.profile(engines)]).html)
        #expect(outline.text.contains("e19"))
    }

    @Test func `The styles cover both color schemes, phones and paper`() {
        let html = Report(profiles: [profile]).html
        for rule in ["(prefers-color-scheme: dark)", "(max-width: 600px)", "@media print", "width=device-width"] {
            #expect(html.contains(rule))
        }
    }

    @Test func `Numbers that are not finite become zero in drawings`() {
        let markup: Markup = "\(Double.nan) \(Double.infinity) \(1.25) \(-0.04)"
        #expect(markup.text == "0 0 1.3 0")
    }

    @Test func `The size of the charts is the largest that all engines have`() {
        let engines = [
            Sample.engine("a", [10: [], 100: [], 1000: []]), Sample.engine("b", [10: [], 100: []]),
        ]
        #expect(Report(profiles: [Sample.profile(engines)]).size == 100)
    }

    @Test func `Engines with the same name in several results are distinguished by the names of the results`() {
        let read = [1000: [Sample.steady(around: 500)]]
        var profiles = [
            Sample.profile([Sample.engine("sqlite", read), Sample.engine("mine", read)]),
            Sample.profile([Sample.engine("sqlite", read)]),
        ]
        Profile.disambiguate(&profiles, names: ["laptop", "server"])
        #expect(profiles.flatMap(\.engines).map(\.name) == ["sqlite (laptop)", "mine", "sqlite (server)"])
        var same = [Sample.profile([Sample.engine("a", read)]), Sample.profile([Sample.engine("a", read)])]
        Profile.disambiguate(&same, names: ["x", "x"])
        #expect(same.flatMap(\.engines).map(\.name) == ["a (x 1)", "a (x 2)"])
    }
}
