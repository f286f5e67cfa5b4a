// swift-tools-version: 6.2

import PackageDescription

let package = Package(
    name: "Examples",
    platforms: [.macOS(.v14)],
    dependencies: [.package(name: "Emporium", path: "..")],
    targets: [
        .executableTarget(name: "Notes", dependencies: [.product(name: "Boutique", package: "Emporium")]),
        .executableTarget(name: "Contacts", dependencies: [.product(name: "CodableStoreKit", package: "Emporium")]),
        .testTarget(name: "ExamplesTests", dependencies: ["Notes", "Contacts"]),
    ],
    swiftLanguageModes: [.v6]
)
