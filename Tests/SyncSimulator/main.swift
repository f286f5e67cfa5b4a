import Foundation
import SyncSimulation

var seeds = 1_000
var first: UInt64 = 1
var options = SimulationOptions(seed: 0)
var arguments = CommandLine.arguments.dropFirst()
var (seed, listsDefects): (UInt64?, Bool) = (nil, false)
while let argument = arguments.popFirst() {
    let value = arguments.first ?? ""
    switch argument {
    case "--seeds": seeds = Int(value) ?? seeds
    case "--first": first = UInt64(value) ?? first
    case "--seed": seed = UInt64(value)
    case "--clients": options.clients = Int(value) ?? options.clients
    case "--operations": options.operations = Int(value) ?? options.operations
    case "--faults":
        options.faults = Set(value.split(separator: ",").compactMap { SimulationOptions.Fault(rawValue: String($0)) })
    case "--trace": options.traced = value
    case "--defect": options.defect = Defect(rawValue: value)
    case "--defects":
        listsDefects = true
        continue
    default: break
    }
    arguments = arguments.dropFirst()
}
if listsDefects {
    for defect in Defect.allCases {
        options.defect = defect
        var found: String?
        for number in 1...UInt64(seeds) where found == nil {
            options.seed = number
            if let violation = Simulation(options).run().first { found = "seed \(number): \(violation)" }
        }
        print("\(defect.rawValue): \(found ?? "NOT FOUND")")
    }
    exit(0)
}
var failures = 0
for number in seed.map({ $0...$0 }) ?? first...(first + UInt64(seeds) - 1) {
    options.seed = number
    let violations = Simulation(options).run()
    if violations.isEmpty { continue }
    failures += 1
    if failures <= 5 {
        print(options)
        for violation in violations { print("  \(violation)") }
    }
}
print("\(seeds) seeds, \(failures) failures")
exit(failures == 0 ? 0 : 1)
