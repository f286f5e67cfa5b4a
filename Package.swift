// swift-tools-version: 6.1

import PackageDescription

/// Combine for platforms without Apple's own.
let openCombine = Target.Dependency.product(
    name: "OpenCombine",
    package: "OpenCombine",
    condition: .when(platforms: [.linux, .android, .windows, .openbsd, .wasi])
)

let package = Package(
    name: "Emporium",
    platforms: [.iOS(.v17), .macOS(.v14), .tvOS(.v17), .watchOS(.v10), .visionOS(.v1)],
    products: [
        .library(name: "Bodega", targets: ["Bodega"]),
        .library(name: "BodegaPostgres", targets: ["BodegaPostgres"]),
        .library(name: "BodegaTesting", targets: ["BodegaTesting"]),
        .library(name: "Boutique", targets: ["Boutique"]),
        .library(name: "CodableStoreKit", targets: ["CodableStoreKit"]),
        .library(name: "RecordCoder", targets: ["RecordCoder"]),
        .executable(name: "bodega", targets: ["BodegaCLI"]),
    ],
    traits: [
        .trait(
            name: "CommandLineTool",
            description: "Builds the `bodega` command-line tool, the only product that needs swift-argument-parser."
        ),
        .trait(
            name: "Postgres",
            description: "Builds the engine for PostgreSQL, the only product that needs libpq."
        ),
    ],
    dependencies: [
        .package(url: "https://github.com/groue/GRDB.swift", from: "7.10.0"),
        .package(url: "https://github.com/apple/swift-collections", from: "1.6.0"),
        .package(url: "https://github.com/apple/swift-crypto", from: "4.5.2"),
        .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
        .package(url: "https://github.com/OpenCombine/OpenCombine", from: "0.14.0"),
    ],
    targets: [
        .target(
            name: "Bodega",
            dependencies: [
                "CLinuxFileSystem",
                "CSQLiteConfiguration",
                "RecordCoder",
                .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "DequeModule", package: "swift-collections"),
                .product(name: "GRDB", package: "GRDB.swift"),
                .product(name: "GRDBSQLite", package: "GRDB.swift"),
                .product(name: "Logging", package: "swift-log"),
            ]
        ),
        .target(name: "CLinuxFileSystem"),
        .target(name: "CSQLiteConfiguration"),
        .target(name: "RecordCoder"),
        .target(
            name: "BodegaPostgres",
            dependencies: [
                "Bodega",
                .target(name: "CPostgres", condition: .when(traits: ["Postgres"])),
                .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "DequeModule", package: "swift-collections"),
                .product(name: "Logging", package: "swift-log"),
            ]
        ),
        // PostgreSQL's client library, which only the trait Postgres requires.
        .systemLibrary(
            name: "CPostgres",
            pkgConfig: "libpq",
            providers: [.apt(["libpq-dev"]), .brew(["libpq"])]
        ),
        .target(
            name: "BodegaTesting",
            dependencies: ["Bodega"]
        ),
        .target(
            name: "Boutique",
            dependencies: [
                "Bodega",
                "RecordCoder",
                .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "DequeModule", package: "swift-collections"),
                .product(name: "Logging", package: "swift-log"),
                openCombine,
            ]
        ),
        .target(
            name: "CodableStoreKit",
            dependencies: [
                "Bodega",
                "RecordCoder",
                .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "DequeModule", package: "swift-collections"),
                .product(name: "Logging", package: "swift-log"),
            ]
        ),
        .target(
            name: "BodegaCommands",
            dependencies: [
                "Bodega",
                .target(name: "BodegaPostgres", condition: .when(traits: ["Postgres"])),
                .product(
                    name: "ArgumentParser",
                    package: "swift-argument-parser",
                    condition: .when(traits: ["CommandLineTool"])
                ),
            ]
        ),
        .executableTarget(name: "BodegaCLI", dependencies: ["BodegaCommands"]),
        .testTarget(
            name: "BodegaTests",
            dependencies: [
                "Bodega",
                "BodegaTesting",
                "ReadmeProgram",
                "RecordCoder",
                "TestChild",
                "TestFaults",
                "TestProcesses",
                "TestSupport",
                .product(name: "GRDB", package: "GRDB.swift"),
            ]
        ),
        .testTarget(
            name: "BoutiqueTests",
            dependencies: [
                "Bodega", "BodegaTesting", "Boutique", "SharedStores", "TestChild", "TestFaults", "TestProcesses",
                "TestSupport", openCombine, .product(name: "Logging", package: "swift-log"),
            ]
        ),
        .testTarget(
            name: "CodableStoreKitTests",
            dependencies: ["Bodega", "BodegaTesting", "Boutique", "CodableStoreKit", "TestChild", "TestSupport"]
        ),
        .testTarget(
            name: "BoutiqueCompatibilityTests",
            dependencies: ["BodegaTesting", "Boutique", "CompatibilityChild", "TestSupport"]
        ),
        .testTarget(
            name: "CodableStoreKitCompatibilityTests",
            dependencies: ["CodableStoreCompatibilityChild", "CodableStoreKit", "TestSupport"]
        ),
        // Starts other programs for tests.
        .target(name: "TestProcesses", path: "Tests/TestProcesses"),
        .target(
            name: "TestSupport", dependencies: ["Bodega", "BodegaTesting", "TestProcesses"], path: "Tests/TestSupport"),
        // Faults at seeded moments: broken connections and stopped processes.
        .target(
            name: "TestFaults", dependencies: ["Bodega", "BodegaTesting", "TestProcesses"], path: "Tests/TestFaults"),
        .testTarget(name: "TestFaultsTests", dependencies: ["Bodega", "TestFaults", "TestProcesses", "TestSupport"]),
        // Stores that change the same data concurrently, in one process or in several.
        .target(
            name: "SharedStores", dependencies: ["Bodega", "BodegaTesting", "Boutique"], path: "Tests/SharedStores"),
        // The program that tests run as another process, to kill it, limit it or race with it.
        .executableTarget(
            name: "TestChild",
            dependencies: [
                "Bodega", "Boutique", "CodableStoreKit", "SharedStores", .product(name: "GRDB", package: "GRDB.swift"),
            ],
            path: "Tests/TestChild"
        ),
        // The program at the head of the README.
        .executableTarget(name: "ReadmeProgram", dependencies: ["Boutique"], path: "Tests/ReadmeProgram"),
        // Programs in the form in which users of Boutique 2 wrote them. They store their data in the user's folders.
        .executableTarget(name: "CompatibilityChild", dependencies: ["Boutique"], path: "Tests/CompatibilityChild"),
        // The same for CodableStoreKit.
        .executableTarget(
            name: "CodableStoreCompatibilityChild",
            dependencies: ["CodableStoreKit"],
            path: "Tests/CodableStoreCompatibilityChild"
        ),
        // A real PostgreSQL server for tests, and a program that starts one for code outside of this package.
        .target(name: "PostgresTesting", dependencies: ["TestProcesses"], path: "Tests/PostgresTesting"),
        .executableTarget(
            name: "ThrowawayPostgres", dependencies: ["PostgresTesting"], path: "Tests/ThrowawayPostgres"),
        // A production setup of PostgreSQL: a cluster that fails over under load, and a pooler. `bin/chaos` runs it.
        .executableTarget(
            name: "PostgresChaos",
            dependencies: [
                "Bodega", "BodegaPostgres", "BodegaTesting", "Boutique", "PostgresTesting", "SharedStores",
                "TestFaults",
                "TestProcesses",
            ],
            path: "Tests/PostgresChaos"
        ),
        .testTarget(
            name: "PostgresTestingTests", dependencies: ["PostgresTesting", "TestSupport", "ThrowawayPostgres"]),
        .testTarget(
            name: "BodegaPostgresTests",
            dependencies: [
                "Bodega", "BodegaPostgres", "BodegaTesting", "Boutique", "PostgresTesting", "SharedStores",
                "TestFaults",
                "TestProcesses", "TestSupport",
            ]
        ),
        // Foundation's decoder as the oracle for ours, for the tests and for the fuzzer.
        .target(
            name: "RecordCoderOracle",
            dependencies: ["BodegaTesting", "RecordCoder"],
            path: "Tests/RecordCoderOracle"
        ),
        .executableTarget(
            name: "RecordCoderFuzz",
            dependencies: ["BodegaTesting", "RecordCoder", "RecordCoderOracle"],
            path: "Tests/RecordCoderFuzz"
        ),
        .testTarget(
            name: "RecordCoderTests",
            dependencies: ["BodegaTesting", "RecordCoder", "RecordCoderFuzz", "RecordCoderOracle", "TestSupport"]
        ),
        .testTarget(name: "BodegaTestingTests", dependencies: ["Bodega", "BodegaTesting"]),
        .testTarget(
            name: "BodegaCommandsTests",
            dependencies: [
                "Bodega", "BodegaTesting", "BodegaCommands", "BodegaCLI", "PostgresTesting", "TestProcesses",
                "TestSupport",
                .target(name: "BodegaPostgres", condition: .when(traits: ["Postgres"])),
                .product(name: "GRDB", package: "GRDB.swift"),
            ]
        ),
    ],
    swiftLanguageModes: [.v6]
)

let sharedSettings: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
]

/// Targets that represent existing code: they use Swift 5 and no upcoming features.
let swift5Targets: Set = [
    "BoutiqueCompatibilityTests", "CodableStoreCompatibilityChild", "CodableStoreKitCompatibilityTests",
    "CompatibilityChild",
]

/// Targets in C.
let targetsInC: Set = ["CLinuxFileSystem", "CSQLiteConfiguration"]

for target in package.targets where target.type != .system && !targetsInC.contains(target.name) {
    let settings = swift5Targets.contains(target.name) ? [.swiftLanguageMode(.v5)] : sharedSettings
    target.swiftSettings = (target.swiftSettings ?? []) + settings
}
