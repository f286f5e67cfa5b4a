import Bodega
import Boutique
import Foundation

#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// Uses stored values in another process.
///
/// Arguments: the command, the name of a suite or `standard`, and the command's arguments.
func useValues(_ arguments: [String]) async throws {
    let suite = arguments[1]
    let rest = Array(arguments.dropFirst(2))
    switch arguments[0] {
    case "set": text(rest[0], suite).set(rest[1])
    case "set-and-die":
        text(rest[0], suite).set(rest[1])
        kill(getpid(), SIGKILL)
    case "get": say(text(rest[0], suite).wrappedValue)
    case "set-in-defaults":
        let defaults = userDefaults(suite)
        defaults.set(Data(rest[1].utf8), forKey: rest[0])
        precondition(defaults.synchronize())
    case "set-flag-in-defaults":
        let defaults = userDefaults(suite)
        defaults.set(true, forKey: rest[0])
        precondition(defaults.synchronize())
    case "replace-undecodable":
        let value = text(rest[0], suite)
        say(value.wrappedValue)
        say(value.lastError.map { "\($0.code)" } ?? "no error")
        value.set("new")
        for data in try value.undecodableData() {
            say("\(try PropertyListSerialization.propertyList(from: data, options: [], format: nil))")
        }
    case "set-and-get-from-defaults":
        text(rest[0], suite).set(rest[1])
        let data = userDefaults(suite).data(forKey: rest[0])
        say(data.map { String(decoding: $0, as: UTF8.self) } ?? "nil")
    case "write-many": writeMany(suite, prefix: rest[0], count: Int(rest[1]) ?? 0)
    case "count":
        let found = (0..<(Int(rest[1]) ?? 0)).filter { text("\(rest[0])-\($0)", suite).wrappedValue == "value \($0)" }
        say("\(found.count)")
    case "increment":
        let number = StoredValue(key: rest[0], default: 0, storage: userDefaults(suite))
        for _ in 0..<(Int(rest[1]) ?? 0) { number.modify { $0 += 1 } }
        say("\(number.lastError == nil)")
    case "hold":
        text(rest[0], suite).modify { _ in
            say("held")
            while true { pause() }
        }
    case "follow":
        for await value in text(rest[0], suite).values {
            say(value)
            if value == "end" { break }
        }
    case "converse": converse(suite)
    case "snippets": try await runValueSnippets(rest)
    case "registered":
        userDefaults(suite).register(defaults: [rest[0]: Data(#"{"value":"registered"}"#.utf8)])
        say(text(rest[0], suite).wrappedValue)
    case "presets": try sayPresets(suite, isRegistering: rest.first == "register")
    default: fatalError("unknown task \(arguments)")
    }
}

/// Prints values of several types, which launch arguments can set, and whether there were errors.
private func sayPresets(_ suite: String, isRegistering: Bool) throws {
    enum Theme: String, Codable { case light, dark }
    let defaults = userDefaults(suite)
    if isRegistering {
        defaults.register(defaults: [
            "flag": true, "count": 3, "size": 2.5, "name": "registered", "theme": "dark", "list": [1, 2], "maybe": 5,
        ])
    }
    let flag = StoredValue(key: "flag", default: false, storage: defaults)
    let count = StoredValue(key: "count", default: 0, storage: defaults)
    let size = StoredValue(key: "size", default: 0.0, storage: defaults)
    let name = StoredValue(key: "name", default: "plain", storage: defaults)
    let theme = StoredValue(key: "theme", default: Theme.light, storage: defaults)
    let list = StoredValue(key: "list", default: [Int](), storage: defaults)
    let maybe = StoredValue<Int?>(key: "maybe", storage: defaults)
    for value in [
        flag.wrappedValue, count.wrappedValue, size.wrappedValue, name.wrappedValue, theme.wrappedValue.rawValue,
        list.wrappedValue,
    ] as [Any] { say("\(value)") }
    say(maybe.wrappedValue.map { "\($0)" } ?? "nil")
    let errors = [
        flag.lastError, count.lastError, size.lastError, name.lastError, theme.lastError, list.lastError,
        maybe.lastError,
    ].compactMap { $0 }
    let undecodable = try [
        flag.undecodableData(), count.undecodableData(), size.undecodableData(), name.undecodableData(),
        theme.undecodableData(), list.undecodableData(), maybe.undecodableData(),
    ].flatMap { $0 }
    say(errors.isEmpty && undecodable.isEmpty ? "no errors" : "\(errors) \(undecodable.count)")
}

private func userDefaults(_ suite: String) -> UserDefaults {
    if suite == "standard" { return .standard }
    guard let defaults = UserDefaults(suiteName: suite) else { fatalError("invalid suite \(suite)") }
    return defaults
}

private func text(_ key: String, _ suite: String) -> StoredValue<String> {
    StoredValue(key: key, default: "none", storage: userDefaults(suite))
}

/// Writes values under keys of its own, and prints each when it is set.
private func writeMany(_ suite: String, prefix: String, count: Int) {
    for number in 0..<count {
        let value = text("\(prefix)-\(number)", suite)
        value.set("value \(number)")
        precondition(value.lastError == nil)
        say("\(number)")
    }
}

/// Executes the lines of standard input: `get KEY`, or `set KEY VALUE`.
private func converse(_ suite: String) {
    var values: [String: StoredValue<String>] = [:]
    while let line = readLine() {
        let words = line.split(separator: " ").map(String.init)
        let value = values[words[1]] ?? text(words[1], suite)
        values[words[1]] = value
        if words[0] == "set" { value.set(words[2]) }
        say(value.wrappedValue)
    }
}

/// Sets an asynchronous value to each line of its input, and prints each value that it observes. It ends with the value
/// `end`.
///
/// Arguments: path of a file, key.
func followAsyncValue(_ arguments: [String]) async throws {
    let engine = try SQLiteStorageEngine(openingFile: URL(fileURLWithPath: arguments[0]))
    let value = AsyncStoredValue(key: arguments[1], default: "none", storage: engine)
    try await value.valueHasLoaded()
    let (lines, continuation) = AsyncStream.makeStream(of: String.self)
    // Read on a thread that may block, because there may be only one thread for tasks.
    Thread.detachNewThread {
        while let line = readLine() { continuation.yield(line) }
        continuation.finish()
    }
    let setting = Task { for await line in lines { try await value.set(line) } }
    for await shown in value.values {
        say(shown)
        if shown == "end" { break }
    }
    setting.cancel()
}

/// Increments an asynchronous value.
///
/// Arguments: path of a file, key, number of increments.
func incrementAsyncValue(_ arguments: [String]) async throws {
    let engine = try SQLiteStorageEngine(openingFile: URL(fileURLWithPath: arguments[0]), durability: .relaxed)
    let value = AsyncStoredValue(key: arguments[1], default: 0, storage: engine)
    for _ in 0..<(Int(arguments[2]) ?? 0) { try await value.modify { $0 += 1 } }
    say("done")
}
