import Bodega
import Crypto
import Foundation
import Testing

@Suite struct CacheKeyTests {

    @Test("A key's value is the upper-case MD5 of its string, grouped like a UUID")
    func value() {
        // The digests are those of RFC 1321, appendix A.5.
        #expect(CacheKey("").value == "D41D8CD9-8F00-B204-E980-0998ECF8427E")
        #expect(CacheKey("abc").value == "90015098-3CD2-4FB0-D696-3F7D28E17F72")
        #expect(CacheKey("message digest").value == "F96B697D-7CB7-938D-525A-2F31AAF161D0")
    }

    @Test("A verbatim key's value is its string")
    func verbatim() {
        #expect(CacheKey(verbatim: "a/b.txt").value == "a/b.txt")
    }

    @Test(
        "The scheme, a leading www. and one trailing slash of a URL are ignored",
        arguments: [
            ("https://redpanda.club/dope-quotes/dolly-parton", "redpanda.club/dope-quotes/dolly-parton"),
            ("http://www.redpanda.club/dope-quotes/dolly-parton/", "redpanda.club/dope-quotes/dolly-parton"),
            ("https://a.org//", "a.org/"),
            ("https://a.org/www.b.org", "a.org/www.b.org"),
            ("https://awww.org/", "awww.org"),
            ("https://www.www.org", "www.org"),
            ("https://user:pass@www.a.org:8080/b?c=d#e", "user:pass@a.org:8080/b?c=d#e"),
            ("https://a.org?next=https://www.b.org", "a.org?next=https://www.b.org"),
            ("file:///tmp/a", "/tmp/a"),
            ("mailto:a@www.b.org", "a@www.b.org"),
            ("https://www.a.org:8080/", "a.org:8080"),
            ("HTTPS://www.a.org", "a.org"),
            ("//www.a.org/b", "a.org/b"),
            ("data:,a//b/", ",a//b"),
            ("a/b", "a/b"),
        ]
    )
    func url(text: String, normalForm: String) throws {
        let key = CacheKey(url: try #require(URL(string: text)))
        #expect(key.rawValue == text)
        #expect(key.identity == normalForm)
        #expect(key.value == CacheKey(normalForm).value)
        #expect(key.kind == .url)
        let stored = CacheKey(identity: normalForm, kind: .url)
        #expect(key == stored && Set([key, stored]).count == 1)
        #expect(stored.rawValue == normalForm && stored.value == key.value)
    }

    @Test("URLs with the same normal form make equal keys; other URLs don't")
    func spellings() throws {
        let spellings = ["https://www.a.org/b/", "http://a.org/b", "ftp://www.a.org/b", "//a.org/b/"]
        let keys = try spellings.map { CacheKey(url: try #require(URL(string: $0))) }
        #expect(Set(keys).count == 1)
        #expect(keys.map(\.rawValue) == spellings)
        for other in ["https://a.org/B", "https://a.org/b//", "https://b.org/b", "https://user@a.org/b"] {
            let other = CacheKey(url: try #require(URL(string: other)))
            #expect(!keys.contains(other) && Set(keys + [other]).count == 2)
        }
        #expect(keys[0] != CacheKey("https://www.a.org/b/") && keys[0] != CacheKey(verbatim: "a.org/b"))
    }

    @Test(
        "A key of a URL can be recreated from its raw value and kind, and from the text that engines store",
        arguments: ["https://www.www.org//", "file:///a", "//www.a.org", "http://localhost:8080/a", "a/b"])
    func partsOfURL(text: String) throws {
        let key = CacheKey(url: try #require(URL(string: text)))
        #expect(CacheKey(rawValue: key.rawValue, kind: key.kind) == key)
        #expect(CacheKey(rawValue: key.identity, kind: key.kind) == key)
    }

    @Test(
        "A key of a URL survives coding with its raw value",
        arguments: ["https://www.a.org/", "mailto:a@www.b.org", "tel:911", "view-source:https://www.a.org"])
    func codingURL(text: String) throws {
        let key = CacheKey(url: try #require(URL(string: text)))
        for key in [key, CacheKey(identity: key.identity, kind: .url)] {
            let copy = try JSONDecoder().decode(CacheKey.self, from: JSONEncoder().encode(key))
            #expect(copy == key && copy.rawValue == key.rawValue && copy.value == key.value)
        }
    }

    @Test("A key with the normal form of a URL is decoded as the key of the URL")
    func decodingNormalForm() throws {
        let value = CacheKey("localhost:8080").value
        let json = #"{"value":"\#(value)","rawValue":"localhost:8080","kind":"url"}"#
        let key = try JSONDecoder().decode(CacheKey.self, from: Data(json.utf8))
        #expect(key == CacheKey(url: try #require(URL(string: "http://localhost:8080/"))))
    }

    @Test("Keys of different kinds are different, even with the same raw value")
    func kinds() {
        let keys = CacheKey.Kind.allCases.map { CacheKey(rawValue: "a", kind: $0) }
        #expect(Set(keys).count == 3)
    }

    @Test("Strings that only look alike make different keys")
    func bytes() {
        let (composed, decomposed) = (CacheKey("\u{E9}"), CacheKey("e\u{301}"))
        #expect(composed != decomposed)
        #expect(Set([composed, decomposed]).count == 2)
        #expect(composed == CacheKey(String("x\u{E9}".dropFirst())))
    }

    @Test("A key survives coding", arguments: CacheKey.Kind.allCases)
    func coding(kind: CacheKey.Kind) throws {
        let key = CacheKey(rawValue: "a/ü\u{0}", kind: kind)
        #expect(try JSONDecoder().decode(CacheKey.self, from: JSONEncoder().encode(key)) == key)
    }

    @Test("A key encoded without its kind can be decoded")
    func codingWithoutKind() throws {
        func decode(_ json: String) throws -> CacheKey {
            try JSONDecoder().decode(CacheKey.self, from: Data(json.utf8))
        }
        #expect(try decode(#"{"value":"a"}"#) == CacheKey(verbatim: "a"))
        #expect(try decode(#"{"value":"\#(CacheKey("a").value)","rawValue":"a"}"#) == CacheKey("a"))
        #expect(try decode(#"{"value":"a","rawValue":"a"}"#) == CacheKey(verbatim: "a"))
        #expect(throws: DecodingError.self) { try decode("{}") }
    }
}
