import Foundation

/// An item of the simulation: a JSON object whose members are numbers, each of which is written once in the whole
/// simulation.
///
/// It reads and writes its text itself, so that it shares no code with what is tested.
struct SimulatedItem: Equatable {
    /// The members, `a` to `z`.
    var members: [Character: Int] = [:]

    init() {}

    /// Reads an item, such as `{"a":12,"c":3}`.
    init(_ data: Data) {
        let text = String(decoding: data, as: UTF8.self).dropFirst().dropLast()
        for member in text.split(separator: ",") {
            let parts = member.split(separator: ":")
            guard parts.count == 2, let number = Int(parts[1]), let name = parts[0].dropFirst().first else {
                preconditionFailure("\(String(decoding: data, as: UTF8.self)) is not an item of the simulation")
            }
            members[name] = number
        }
    }

    var data: Data {
        let texts = members.sorted { $0.key < $1.key }.map { "\"\($0.key)\":\($0.value)" }
        return Data("{\(texts.joined(separator: ","))}".utf8)
    }
}
