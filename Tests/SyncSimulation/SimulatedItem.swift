import Foundation

/// An item of the simulation: a JSON object whose members are numbers, each of which is written once in the whole
/// simulation.
///
/// Each has another member, because an object with one member may be the case of an enumeration, which is not merged.
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
            if name != "z" { members[name] = number }
        }
    }

    var data: Data {
        let texts = members.sorted { $0.key < $1.key }.map { "\"\($0.key)\":\($0.value)" }
        return Data("{\((texts + ["\"z\":0"]).joined(separator: ","))}".utf8)
    }
}
