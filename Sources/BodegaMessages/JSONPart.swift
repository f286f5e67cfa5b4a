package import Bodega
package import Foundation
package import RecordCoder

/// A value in a message of JSON that was received.
///
/// Reading it copies no bytes but those of texts and items that are asked for. Members of an answer that a reader does
/// not know are ignored, so that later versions can add some. In a request they are an error, see
/// ``JSONMembers/check(names:)``.
package struct JSONPart: Sendable {
    private let message: Data
    private let range: Range<Int>
    /// The name of the member, for errors.
    private let name: String
    /// Whether the message is a request.
    fileprivate let isRequest: Bool

    /// Checks a message.
    ///
    /// - Parameters:
    ///   - message: The bytes.
    ///   - isRequest: Whether the message is a request.
    /// - Throws: ``/Bodega/StorageError/Code/invalidArgument`` if it is not JSON in UTF-8.
    package init(_ message: Data, isRequest: Bool = false) throws {
        let range = message.withUnsafeBytes { isValidUTF8($0) ? JSONScanner.document($0) : nil }
        guard let range else { throw StorageError(.invalidArgument, "The message is not JSON.") }
        self.init(message, range, "message", isRequest)
    }

    private init(_ message: Data, _ range: Range<Int>, _ name: String, _ isRequest: Bool) {
        (self.message, self.range, self.name, self.isRequest) = (message, range, name, isRequest)
    }

    private func bytes<Value>(_ body: (UnsafeRawBufferPointer) throws -> Value) rethrows -> Value {
        try message.withUnsafeBytes { try body(UnsafeRawBufferPointer(rebasing: $0[range])) }
    }

    private var first: UInt8 { message[message.startIndex + range.lowerBound] }

    /// The error of a value that is not what it has to be.
    package func error(_ expected: String) -> StorageError {
        StorageError(.invalidArgument, "\"\(name)\" in the message is not \(expected).")
    }

    /// The bytes of the value, as they were received.
    package var data: Data { bytes { Data($0) } }

    /// Whether the value is `null`.
    package var isNull: Bool { first == UInt8(ascii: "n") }

    /// The value as a text, `nil` if it is none.
    package var text: String? {
        guard first == UInt8(ascii: "\"") else { return nil }
        return bytes { JSONString.decode(UnsafeRawBufferPointer(rebasing: $0.dropFirst().dropLast())) }
    }

    /// The value as the text of a number, `nil` if it is none.
    package var number: String? {
        let isNumber = first == UInt8(ascii: "-") || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(first)
        return isNumber ? bytes { String(decoding: $0, as: UTF8.self) } : nil
    }

    package func string() throws -> String {
        guard let text else { throw error("a text") }
        return text
    }

    /// The path to a member of the items.
    package func path() throws -> String {
        let path = try string()
        // A backslash makes the character after it a part of a name.
        let backslashes = path.utf8.reversed().prefix { $0 == UInt8(ascii: "\\") }
        guard !path.isEmpty, backslashes.count.isMultiple(of: 2) else { throw error("the path of a member") }
        return path
    }

    package func int() throws -> Int {
        guard let number else { throw error("an integer") }
        if let integer = Int(number) { return integer }
        // Numbers such as 1.0 and 1e3 are integers of a JSON schema. Double has all of them up to 2^53.
        guard let real = Double(number), abs(real) <= 0x1p53, let integer = Int(exactly: real) else {
            throw error("an integer")
        }
        return integer
    }

    package func bool() throws -> Bool {
        switch first {
        case UInt8(ascii: "t"): return true
        case UInt8(ascii: "f"): return false
        default: throw error("true or false")
        }
    }

    /// The bytes that a text in Base64 stands for.
    package func base64() throws -> Data {
        guard let data = try Data(base64Encoded: string()) else { throw error("Base64") }
        return data
    }

    /// Checks a message that is an object, and visits its members, in one pass.
    ///
    /// - Throws: ``/Bodega/StorageError/Code/invalidArgument`` if it is not an object of JSON in UTF-8. Members before
    ///   the error may have been visited.
    package static func forEachMember(
        of message: Data, _ body: (_ name: String, _ value: JSONPart) throws -> Void
    ) throws {
        var failure: (any Error)?
        let isObject = message.withUnsafeBytes { bytes in
            isValidUTF8(bytes)
                && JSONScanner.forEachMember(of: bytes) { name, value in
                    if failure != nil { return }
                    let name = JSONString.decode(UnsafeRawBufferPointer(rebasing: bytes[name])) ?? ""
                    do { try body(name, JSONPart(message, value, name, false)) } catch { failure = error }
                }
        }
        if let failure { throw failure }
        guard isObject else { throw StorageError(.invalidArgument, "The message is not an object of JSON.") }
    }

    /// Visits the members of an object.
    package func forEachMember(_ body: (_ name: String, _ value: JSONPart) throws -> Void) throws {
        guard first == UInt8(ascii: "{") else { throw error("an object") }
        var failure: (any Error)?
        message.withUnsafeBytes { bytes in
            JSONScanner.forEachMember(of: bytes, range) { name, value in
                if failure != nil { return }
                let name = JSONString.decode(UnsafeRawBufferPointer(rebasing: bytes[name])) ?? ""
                do { try body(name, JSONPart(message, value, name, isRequest)) } catch { failure = error }
            }
        }
        if let failure { throw failure }
    }

    /// The members of an object.
    package func members() throws -> JSONMembers {
        var members: [String: JSONPart] = [:]
        try forEachMember { name, value in
            guard members.updateValue(value, forKey: name) == nil else { throw value.error("there once") }
        }
        return JSONMembers(object: self, members: members)
    }

    /// The elements of an array.
    package func elements() throws -> [JSONPart] {
        guard first == UInt8(ascii: "[") else { throw error("a list") }
        var elements: [JSONPart] = []
        message.withUnsafeBytes { bytes in
            JSONScanner.forEachElement(of: bytes, range) { elements.append(JSONPart(message, $0, name, isRequest)) }
        }
        return elements
    }

    /// The elements of an array of readable values.
    package func list<Value: JSONReadable>(of type: Value.Type = Value.self) throws -> [Value] {
        try elements().map(Value.init)
    }
}

/// The members of an object in a message.
package struct JSONMembers {
    fileprivate let object: JSONPart
    fileprivate let members: [String: JSONPart]

    /// A member; `nil` if it is missing.
    package subscript(name: String) -> JSONPart? { members[name] }

    /// A member that must be there.
    package func required(_ name: String) throws -> JSONPart {
        guard let part = self[name] else {
            throw StorageError(.invalidArgument, "\"\(name)\" is missing in the message.")
        }
        return part
    }

    /// Checks that an object of a request has no other members. What a person writes can have a wrong name, whose
    /// member must not be ignored: a batch without its conditions would be applied.
    ///
    /// - Parameter names: The names that are known.
    /// - Throws: An error that names one of the others.
    package func check(names: [String]) throws {
        guard object.isRequest, let unknown = members.keys.filter({ !names.contains($0) }).min() else { return }
        throw StorageError(
            .invalidArgument,
            "\"\(unknown.prefix(100))\" in the message is none of its members: \(names.joined(separator: ", ")).")
    }

    /// The only member of an object that has one of several forms.
    package func only() throws -> (name: String, value: JSONPart) {
        guard members.count == 1, let (name, value) = members.first else {
            throw object.error("an object with one member")
        }
        return (name, value)
    }

    package func int(_ name: String) throws -> Int? { try self[name]?.int() }

    package func string(_ name: String) throws -> String? { try self[name]?.string() }

    /// `false` if it is missing.
    package func bool(_ name: String) throws -> Bool { try self[name]?.bool() ?? false }

    package func value<Value: JSONReadable>(_ name: String) throws -> Value? { try self[name].map(Value.init) }

    /// Empty if it is missing.
    package func list<Value: JSONReadable>(_ name: String) throws -> [Value] { try self[name]?.list() ?? [] }
}

/// A value that can be read from a message.
package protocol JSONReadable {
    /// - Throws: ``/Bodega/StorageError/Code/invalidArgument`` if the part is not such a value.
    init(_ part: JSONPart) throws
}

/// A value of a message: each form of it that is written is read as an equal one.
package typealias MessageValue = JSONMember & JSONReadable

extension String: JSONReadable {
    package init(_ part: JSONPart) throws { self = try part.string() }
}
