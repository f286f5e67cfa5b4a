import Foundation
import Testing

@testable import EngineProfiler

@Suite struct ProfileFileTests {

    private let profile = Sample.profile([
        Sample.engine("a", [1000: [Sample.steady(around: 500)], 10_000: [Sample.steady("other", around: 9000)]])
    ])

    @Test func `Results are read as they were written`() throws {
        #expect(try Profile(json: try profile.json(), name: "it") == profile)
    }

    @Test func `Equal results have equal bytes`() throws {
        #expect(try profile.json() == profile.json())
    }

    @Test func `The error for another version names both versions`() throws {
        var other = profile
        other.version = 7
        let error = #expect(throws: ProfilerError.self) { try Profile(json: try other.json(), name: "new.json") }
        let text = try #require(error).description
        #expect(text.contains("new.json") && text.contains("version 7") && text.contains("reads version 1"))
    }

    @Test(arguments: ["", "{}", "[]", "nonsense", #"{"format": "other", "version": 1}"#])
    func `A file without results is refused`(text: String) throws {
        let error = #expect(throws: ProfilerError.self) { try Profile(json: Data(text.utf8), name: "x.json") }
        #expect(try #require(error).description.contains("x.json is not a file of results"))
    }

    @Test func `Results without a required member are damaged`() throws {
        let text = #"{"format": "emporium-profile", "version": 1}"#
        let error = #expect(throws: ProfilerError.self) { try Profile(json: Data(text.utf8), name: "x.json") }
        #expect(try #require(error).description.contains("damaged"))
    }

    @Test func `The error for truncated results includes the decoder's error`() throws {
        let json = try profile.json()
        for count in [json.count / 2, json.count - 3] {
            let error = #expect(throws: ProfilerError.self) { try Profile(json: json.prefix(count), name: "x.json") }
            let text = try #require(error).description
            #expect(text.contains("x.json is not a file of results") && text.contains("truncated"))
            #expect(text.contains("not valid JSON"), "\(text)")
        }
    }

    @Test func `The error for a missing file names it`() throws {
        let error = #expect(throws: ProfilerError.self) { try Profile(path: "/nowhere/x.json") }
        #expect(try #require(error).description.hasPrefix("/nowhere/x.json can't be read"))
    }

    @Test func `The README names every member of the results`() throws {
        let readme = try String(contentsOf: Repository.profiler.appendingPathComponent("README.md"), encoding: .utf8)
        var counted = profile
        counted.settings.repetitions = 5
        counted.engines[0].sizes[0].medium = try DiskUse(of: [])
        counted.engines[0].sizes[0].measurements[0].memory = MemoryUse(before: 1, peak: 2, after: 3)
        let names = try memberNames(JSONSerialization.jsonObject(with: try counted.json()))
        for name in ["seconds", "repetitions", "medium", "allocated", "files", "memory", "peak", "processor"] {
            #expect(names.contains(name), "The sample lacks \(name).")
        }
        let missing = names.filter { !readme.contains("`\($0)`") }
        #expect(missing == [])
    }

    private func memberNames(_ value: Any) -> Set<String> {
        if let object = value as? [String: Any] {
            return object.reduce(into: []) { $0.formUnion(memberNames($1.value).union([$1.key])) }
        }
        return (value as? [Any] ?? []).reduce(into: []) { $0.formUnion(memberNames($1)) }
    }
}

/// The locations of the sources.
enum Repository {
    /// The folder of this package.
    static let profiler = URL(fileURLWithPath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
}
